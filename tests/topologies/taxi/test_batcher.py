"""The source's batches: whatever is there, whole, in order, and within bounds."""

from __future__ import annotations

import random

import pytest

from topologies.batches.header import QueryStart
from topologies.redis_io.reader import Entry
from topologies.taxi.batcher import MOST_ROWS, Batcher, RowsGoneError
from topologies.taxi.epochs import Began


def entry(n: int, count: int) -> Entry:
    return Entry(f"{n}-0", {"n": str(n), "lines": "\n".join(f"row {n + index}" for index in range(count))})


def began(**queries: QueryStart) -> Began:
    origin = min(each.start for each in queries.values())
    return Began(3, origin, {k[1:]: v for k, v in queries.items()}, 2, 0)


@pytest.mark.parametrize("seed", range(10))
def test_batches_hold_all_rows_once_and_cross_no_border(seed: int) -> None:
    """Whatever the entries' sizes; rows before the origin are left out, the end is a batch of its own."""
    chance = random.Random(seed)
    starts = [QueryStart(chance.randint(100, 900), 5, chance.randint(900, 2_500)) for _ in "12"]
    batcher = Batcher(began(q1=starts[0], q2=starts[1]), run="r1", ahead=100_000)
    origin = min(each.start for each in starts)
    n = origin - chance.randint(0, 99)
    entries = {}
    while n < 5_000:
        count = chance.randint(max(1, origin - n + 1), 250)
        entries[f"{n}-0"] = n
        assert batcher.take([entry(n, count)]) == []
        n += count
    batcher.take([Entry("end", {"n": str(n), "end": "1"})])
    batches = []
    while (batch := batcher.next_batch(seen=origin)) is not None:
        batches.append(batch)
    lines = [line for batch in batches[:-1] for line in batch.lines.split("\n")]
    assert lines == [f"row {row}" for row in range(origin, n)]
    assert batches[-1].end
    assert batches[-1].header.first == n
    assert not any(batch.end for batch in batches[:-1])
    borders = {row for each in starts for row in (each.start, each.released + 1)}
    at = origin
    for batch in batches:
        header = batch.header
        assert (header.first, header.origin, header.epoch) == (at, origin, 3)
        assert header.next - header.first <= MOST_ROWS
        assert not borders & set(range(header.first + 1, header.next))
        rows = [tuple(part.split(" ")) for part in batch.entries.split(";")]
        assert int(rows[0][0]) == header.first
        assert all(entries.get(identity, n) <= int(row) < header.next for row, identity in rows)
        at = header.next


def test_no_more_is_under_way_than_may_be() -> None:
    """What is worked off makes room for as much."""
    batcher = Batcher(began(q1=QueryStart()), run="r1", ahead=100)
    batcher.take([entry(1, 60), entry(61, 60), entry(121, 60)])
    assert batcher.next_batch(seen=1) is not None
    batcher.take([entry(181, 60)])
    assert batcher.waiting == 60
    assert batcher.next_batch(seen=80) is None
    assert batcher.next_batch(seen=81) is not None


def test_an_epoch_begins_with_one_row_and_goes_on_when_it_is_worked_off() -> None:
    """Also where that row is one of many of an entry, or the end."""
    batcher = Batcher(began(q1=QueryStart(7, 5, 0)), run="r1", ahead=100)
    batcher.take([entry(1, 60)])
    probe = batcher.next_batch(seen=6)
    assert probe is not None
    assert (probe.header.first, probe.header.next, probe.lines) == (7, 8, "row 7")
    assert batcher.next_batch(seen=6) is None
    rest = batcher.next_batch(seen=7)
    assert rest is not None
    assert (rest.header.first, rest.header.next) == (8, 61)
    batcher = Batcher(began(q1=QueryStart(61, 5, 60)), run="r1", ahead=100)
    batcher.take([Entry("61-0", {"n": "61", "end": "1"})])
    probe = batcher.next_batch(seen=60)
    assert probe is not None
    assert probe.end


def test_missing_rows_are_reported() -> None:
    """The run cannot be completed."""
    batcher = Batcher(began(q1=QueryStart()), run="r1", ahead=100)
    batcher.take([entry(1, 2)])
    with pytest.raises(RowsGoneError, match="rows 3 to 9 of run r1 are not in Redis any more"):
        batcher.take([entry(10, 1)])


def test_what_is_no_entry_is_reported_and_what_came_twice_is_left_out() -> None:
    """Each has its own sentence, with its id."""
    batcher = Batcher(began(q1=QueryStart()), run="r1", ahead=100)
    bad = [Entry("7-0", {"n": "x", "lines": "a"}), Entry("8-0", {"n": "1", "line": "a"})]
    sentences = batcher.take([*bad, entry(1, 2), entry(1, 2), entry(2, 3)])
    assert [sentence.split(" ")[2] for sentence in sentences] == ["7-0", "8-0"]
    batch = batcher.next_batch(seen=1)
    assert batch is not None
    assert batch.lines.split("\n") == ["row 1", "row 2", "row 3", "row 4"]
