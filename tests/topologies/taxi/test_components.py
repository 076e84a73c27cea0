"""Each component of query 1 alone, in this process: what it emits for a batch, in any order of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from topologies.batches.acking import REPLAY_KEY
from topologies.batches.clock import Account, Rebuild, Step, Ticks
from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.taxi.settings import SHARES_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

ROW = "60,50,-73.956528,40.716976,-73.962440,40.715008"
START = QueryStart(1, None, 0)


def header(
    first: int, following: int, epoch: int = 1, origin: int = 1, start: QueryStart = START
) -> list[Any]:
    return Header(epoch, origin, first, following, pack_queries({"1": start})).values


def own(emitted: list[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """What was emitted, without headers."""
    return [(stream, values[5:]) for stream, values in emitted]


def test_rows_before_the_querys_start_are_not_its_own(stage: Callable[..., Any]) -> None:
    """The batch goes on empty, so that no batch is missing; the end has no rows either."""
    each = stage("filterByCoordinates")
    late = QueryStart(3, 60, 7)
    emitted = each.process("parser", [*header(1, 3, start=late), "5", "1 1-0", 0, f"{ROW}\n{ROW}"])
    assert [values[-1] for _, values in own(emitted)] == ["", ""]
    emitted = each.process("parser", [*header(3, 5, start=late), "5", "3 2-0", 0, f"{ROW}\n!columns"])
    (_, (_, rows)), (stream, (_, _, times)) = own(emitted)
    assert (rows, stream, times) == (f"3,50,{ROW[6:]}", "progress", "60,50 !columns")
    emitted = each.process("parser", [*header(5, 6, start=late), "5", "5 3-0", 1, ""])
    assert [values[-1] for _, values in own(emitted)] == ["", ""]


def test_every_share_gets_every_batch(stage: Callable[..., Any]) -> None:
    """A share without a row gets none, not nothing."""
    each = stage("computeRouteID", {SHARES_KEY: 4})
    emitted = own(each.process("filterByCoordinates", [*header(7, 8), "5", f"7,50,{ROW[6:]}"]))
    assert [values[0] for _, values in emitted] == [0, 1, 2, 3]
    assert [values[2] for _, values in emitted].count("") == 3
    assert "7 50 161.170-160.170" in [values[2] for _, values in emitted]


def test_the_clock_sends_to_all_shares_and_more_to_the_first_one(stage: Callable[..., Any]) -> None:
    """Before the query's start there is no time."""
    each = stage("metronome", {SHARES_KEY: 2})
    start = QueryStart(3, 60, 0)
    emitted = own(each.process("filterByCoordinates", [*header(1, 3, start=start), "1 1-0", 0, ""]))
    assert [values for _, values in emitted] == [[0, "", ""], [1, "", ""]]
    emitted = own(each.process("filterByCoordinates", [*header(3, 5, start=start), "3 2-0", 0, "90,5 59,5"]))
    ticks = Ticks((Step(3, 90, 5),), frozenset({4}))
    account = Account("3", "4 time_goes_back", Rebuild("2-0", 3, 60), "3 2-0")
    assert [values for _, values in emitted] == [
        [0, ticks.encode(), account.encode()],
        [1, ticks.encode(), ""],
    ]


def counted(each: Any, first: int, rows: str, ticks: Ticks, *, clock_first: bool = False) -> list[Any]:
    """Give a share of countByWindow both parts of a batch of four rows; return its changes."""
    start = QueryStart(1, 10, 0)
    parts = [
        ("computeRouteID", [*header(first, first + 4, start=start), 2, "5", rows]),
        ("metronome", [*header(first, first + 4, start=start), 2, ticks.encode(), ""]),
    ]
    emitted = [values for part in (parts[::-1] if clock_first else parts) for values in each.process(*part)]
    return [values[9].split("\n") for _, values in emitted]


@pytest.mark.parametrize("clock_first", [False, True])
def test_counts_change_with_a_row_or_with_the_time(stage: Callable[..., Any], *, clock_first: bool) -> None:
    """An expiry is written with the row that moves the time, of whichever share it is."""
    each = stage("countByWindow")
    ticks = Ticks((Step(2, 20, 7),), frozenset({3}))
    rows = "1 5 a-b\n2 7 a-b\n3 8 c-d"
    assert counted(each, 1, rows, ticks, clock_first=clock_first) == [["1 5 10 a-b 1 1", "2 7 20 a-b 2 2"]]
    ticks = Ticks((Step(6, 1_811, 9), Step(7, 1_820, 8)))
    assert counted(each, 5, "6 9 e-f", ticks, clock_first=clock_first) == [
        ["6 9 1811 a-b 1 2 e-f 1 6", "7 8 1820 a-b 0 0"]
    ]


def test_a_new_epoch_begins_with_an_empty_window(stage: Callable[..., Any]) -> None:
    """Late tuples of the old one change nothing."""
    each = stage("countByWindow")
    tick = Ticks((Step(1, 20, 5),)).encode()

    def give(epoch: int, first: int, row: str, ticks: str) -> list[str]:
        parts = [("computeRouteID", ["5", row]), ("metronome", [ticks, ""])]
        emitted = [
            values
            for source, part in parts
            for _, values in each.process(source, [*header(first, first + 1, epoch), 0, *part])
        ]
        return [values[-1] for values in emitted]

    assert give(1, 1, "1 5 a-b", tick) == ["1 5 20 a-b 1 1"]
    assert give(2, 1, "1 5 a-b", tick) == ["1 5 20 a-b 1 1"]
    assert give(1, 2, "2 5 a-b", ";") == []
    assert give(2, 2, "2 5 a-b", ";") == ["2 5 20 a-b 2 2"]


def test_a_batch_that_cannot_be_worked_off_fails_and_stops_its_share(stage: Callable[..., Any]) -> None:
    """What follows in the epoch is acknowledged and dropped; a new epoch heals."""
    each = stage("partialRank", {REPLAY_KEY: True})

    def give(epoch: int, first: int, changes: str) -> list[tuple[str, str]]:
        values = [*header(first, first + 1, epoch), 0, "5", ";", "", changes]
        message = {
            "id": f"t{first}",
            "comp": "countByWindow",
            "stream": "default",
            "task": 1,
            "tuple": values,
        }
        answers = each.run(message)
        return [
            (one["command"], one.get("id", "")) for one in answers if one["command"] not in {"log", "sync"}
        ]

    assert give(1, 1, "1 5 20 a-b one 1") == [("fail", "t1"), ("error", "")]
    assert give(1, 2, "") == [("ack", "t2")]
    assert [command for command, _ in give(2, 1, "1 5 20 a-b 1 1")] == ["emit", "ack"]


def test_tops_are_sent_where_they_change(stage: Callable[..., Any]) -> None:
    """Also when the last route leaves."""
    each = stage("partialRank")
    changes = "1 5 20 a-b 1 1\n2 5 20 c-d 1 2 a-b 0 0\n3 5 20 c-d 0 0"
    ((_, values),) = each.process("countByWindow", [*header(1, 4), 0, "5", ";", "", changes])
    assert values[-1].split("\n") == ["1 5 20 a-b 1 1", "2 5 20 c-d 1 2", "3 5 20"]
