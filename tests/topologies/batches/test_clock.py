"""The clock decides which rows count, and knows from where windows can be rebuilt."""

from __future__ import annotations

import random

import pytest

from topologies.batches.clock import Account, Moment, QueryClock, Rebuild, Step, Ticks
from topologies.batches.header import Header, QueryStart


def test_rows_that_turn_the_clock_back_do_not_count() -> None:
    """Steps are sent where the time moves, with the pick-up; rejected rows with their reason."""
    clock = QueryClock(QueryStart(5, 100, 4))
    rows: list[Moment | str] = [
        *(Moment(100, 1), "columns", Moment(160, 2), Moment(159, 3), Moment(160, 4), Moment(161, 5))
    ]
    ticks, account = clock.take(Header(1, 5, 5, 11, ""), "5 9-0;7 9-1", rows)
    assert ticks == Ticks((Step(7, 160, 2), Step(10, 161, 5)), frozenset({8}))
    assert account == Account(
        "5,7,9-10", "6 columns;8 time_goes_back", Rebuild("9-0", 5, 100), "5 9-0;7 9-1", end=False
    )
    assert Ticks.decode(ticks.encode()) == ticks
    assert Account.decode(account.encode()) == account
    assert Ticks.decode(Ticks().encode()) == Ticks()
    with pytest.raises(ValueError, match="are no ticks"):
        Ticks.decode("")


@pytest.mark.parametrize("seed", range(10))
def test_from_the_rebuild_point_on_the_same_rows_count(seed: int) -> None:
    """It is the last batch before which no counted row of the last 30 minutes lies."""
    chance = random.Random(seed)
    clock = QueryClock(QueryStart())
    time_s = 0
    first = 1
    batches: list[tuple[int, list[Moment | str], str]] = []
    for _ in range(60):
        rows: list[Moment | str] = []
        for _ in range(chance.randint(1, 4)):
            time_s += chance.choice([0, 0, 60, 600])
            rows.append(chance.choice(["columns", Moment(time_s, 0), Moment(max(0, time_s - 900), 0)]))
        _, account = clock.take(Header(1, 1, first, first + len(rows), ""), f"{first} {first}-0", rows)
        batches.append((first, rows, account.passed))
        first += len(rows)
        rebuild = account.rebuild
        again = QueryClock(QueryStart(rebuild.n, rebuild.clock_s, 0))
        for begin, each, passed in batches:
            if begin >= rebuild.n:
                header = Header(2, rebuild.n, begin, begin + len(each), "")
                assert again.take(header, f"{begin} {begin}-0", each)[1].passed == passed
        counted = [
            (n, row.dropoff_s)
            for begin, each, passed in batches
            for n, row in enumerate(each, start=begin)
            if isinstance(row, Moment) and passed and n in _numbers(passed)
        ]
        now_s = max((when for _, when in counted), default=0)
        assert all(when <= now_s - 1_800 for n, when in counted if n < rebuild.n)
        holder = next(each for each in batches if each[0] == rebuild.n)
        assert (
            holder is batches[-1]
            or any(when > now_s - 1_800 for n, when in counted if rebuild.n <= n < rebuild.n + len(holder[1]))
            or not counted
        )


def _numbers(passed: str) -> set[int]:
    found: set[int] = set()
    for part in passed.split(","):
        begin, _, end = part.partition("-")
        found |= set(range(int(begin), int(end or begin) + 1))
    return found
