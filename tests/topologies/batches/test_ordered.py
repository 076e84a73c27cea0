"""Batches come out whole and in the order of their rows, whatever order their parts come in."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from topologies.batches.header import Header
from topologies.batches.ordered import OrderedBatches, StuckError


def header(epoch: int, origin: int, first: int, following: int) -> Header:
    return Header(epoch, origin, first, following, "")


def taken(batches: OrderedBatches[str]) -> list[tuple[int, dict[str, str]]]:
    ready = []
    while (batch := batches.take()) is not None:
        ready.append((batch.header.first, batch.parts))
    return ready


@pytest.mark.parametrize("seed", range(20))
def test_any_order_with_doubles_and_late_epochs_gives_each_epoch_in_order(seed: int) -> None:
    """What comes out of the last epoch is all of it; of earlier ones a part from their origin on."""
    chance = random.Random(seed)
    names = [f"p{index}" for index in range(chance.randint(1, 4))]
    offers = []
    lasts = {}
    for epoch, origin in ((1, 1), (2, 5), (3, 3)):
        first = origin
        for _ in range(10):
            following = first + chance.randint(1, 4)
            each = [(header(epoch, origin, first, following), part) for part in names]
            offers += each * chance.randint(1, 2)
            first = following
        lasts[epoch] = first
    chance.shuffle(offers)
    batches: OrderedBatches[str] = OrderedBatches(names)
    out: dict[int, list[Header]] = {}
    dropped = 0
    for each, part in offers:
        batches.offer(each, f"{each.first} {part}", part)
        while (batch := batches.take()) is not None:
            assert batch.parts == {name: f"{batch.header.first} {name}" for name in names}
            out.setdefault(batch.header.epoch, []).append(batch.header)
        dropped += len(batches.take_dropped())
    assert list(out) == sorted(out)
    for epoch, headers in out.items():
        assert headers[0].begins_epoch
        assert all(before.next == after.first for before, after in pairwise(headers))
        assert headers[-1].next <= lasts[epoch]
    assert out[3][-1].next == lasts[3]
    assert dropped + sum(len(headers) for headers in out.values()) * len(names) == len(offers)


def test_too_many_waiting_batches_are_reported_once_and_the_next_epoch_heals() -> None:
    """The part at hand is refused with the row that is missing; the others are dropped."""
    batches: OrderedBatches[str] = OrderedBatches(most_waiting=2)
    batches.offer(header(1, 1, 2, 3), "b")
    batches.offer(header(1, 1, 3, 4), "c")
    with pytest.raises(StuckError, match="rows from 1 on have not come, and 2 batches wait"):
        batches.offer(header(1, 1, 4, 5), "d")
    assert batches.take_dropped() == ["b", "c"]
    batches.offer(header(1, 1, 1, 2), "a")
    assert taken(batches) == []
    assert batches.take_dropped() == ["a"]
    batches.offer(header(2, 1, 1, 2), "again")
    assert taken(batches) == [(1, {"": "again"})]


@pytest.mark.parametrize(
    "other", [Header(1, 2, 3, 4, "a"), Header(1, 1, 3, 4, "b"), Header(1, 1, 3, 5, "a")], ids=str
)
def test_an_epoch_whose_number_was_given_twice_is_given_up(other: Header) -> None:
    """Nothing is made of the rows of both, wherever they begin; the next epoch heals."""
    batches: OrderedBatches[str] = OrderedBatches(["rows", "clock"])
    batches.offer(Header(1, 1, 3, 4, "a"), "its rows", "rows")
    with pytest.raises(StuckError, match="two sources have begun epoch 1"):
        batches.offer(other, "the other's clock", "clock")
    assert batches.take_dropped() == ["its rows"]
    batches.offer(Header(1, 1, 1, 3, "a"), "late", "rows")
    assert batches.take_dropped() == ["late"]
    batches.offer(Header(2, 3, 3, 5, "b"), "rows", "rows")
    batches.offer(Header(2, 3, 3, 5, "b"), "clock", "clock")
    assert taken(batches) == [(3, {"rows": "rows", "clock": "clock"})]


def test_a_spoiled_epoch_gives_out_nothing_more() -> None:
    """Also batches that were ready, since they build on the one that could not be worked off."""
    batches: OrderedBatches[str] = OrderedBatches()
    batches.offer(header(1, 1, 2, 3), "b")
    batches.offer(header(1, 1, 1, 2), "a")
    assert batches.take() is not None
    batches.spoil()
    assert taken(batches) == []
    assert batches.take_dropped() == ["b"]


def test_an_unknown_part_is_refused() -> None:
    """A wrong wiring is an error, not a wait."""
    with pytest.raises(ValueError, match=r"consist of \['clock', 'rows'\], not of 'row'"):
        OrderedBatches[str](["rows", "clock"]).offer(header(1, 1, 1, 2), "x", "row")
