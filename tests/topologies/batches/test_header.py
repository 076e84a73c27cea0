"""What tuples carry comes out as it went in; shares and ranges are the same everywhere."""

from __future__ import annotations

import random

import pytest

from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.batches.ranges import pack_ranges, unpack_ranges
from topologies.batches.shares import share_of


def test_a_header_says_where_each_query_stands() -> None:
    """Rows before a query's start are not its own; rows up to the released one are written already."""
    queries = {"1": QueryStart(1, None, 0), "2": QueryStart(11, -5, 20)}
    header = Header(3, 1, 11, 21, pack_queries(queries))
    assert Header.of([*header.values, "more"]) == header
    assert all(isinstance(value, int | str) for value in header.values)
    assert {name: header.query(name) for name in queries} == queries
    assert (header.serves("1"), header.serves("2")) == (True, True)
    assert (header.is_released("1"), header.is_released("2")) == (False, True)
    early = Header(3, 1, 1, 11, header.queries)
    assert (early.serves("1"), early.serves("2"), early.begins_epoch) == (True, False, True)


@pytest.mark.parametrize(("origin", "first", "following"), [(1, 3, 3), (4, 3, 5), (1, 3, 2)])
def test_a_batch_has_rows_behind_the_origin(origin: int, first: int, following: int) -> None:
    """Anything else is refused: an empty batch would come again and again."""
    with pytest.raises(ValueError, match="are no batch of an epoch that begins"):
        Header(1, origin, first, following, "")


def test_shares_are_the_same_in_every_process() -> None:
    """They are no hash of Python's, lie in range, and use all shares."""
    assert share_of("161.170-160.170", 4) == 2
    assert {share_of(f"{n}.1-1.{n}", 5) for n in range(100)} == {0, 1, 2, 3, 4}
    assert share_of("anything", 1) == 0


@pytest.mark.parametrize("seed", range(10))
def test_ranges_come_out_as_they_went_in(seed: int) -> None:
    """Any ascending numbers, none included."""
    chance = random.Random(seed)
    numbers = sorted(chance.sample(range(40), chance.randint(0, 40)))
    assert list(unpack_ranges(pack_ranges(numbers))) == numbers
    assert pack_ranges([1, 2, 3, 5, 7, 8]) == "1-3,5,7-8"
