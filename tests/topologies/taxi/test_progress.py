"""Sequence numbers: order is restored, what is missing is told, what is slow is waited for."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies.taxi.progress import (
    FirstTimes,
    Join,
    JoinOverflowError,
    LostNumbers,
    SequenceCheck,
    StaleSequenceError,
)
from topologies.taxi.totals import Totals


@given(
    st.permutations(range(2, 9)),
    st.permutations(range(2, 9)),
    st.lists(st.booleans(), min_size=16, max_size=16),
)
def test_pairs_come_in_order_whatever_the_arrivals(
    left: list[int], right: list[int], turns: list[bool]
) -> None:
    """After the first number, any order on each way and between the ways gives 1, 2, ... with both halves."""
    join: Join[str, int] = Join()
    released: list[tuple[int, str, int]] = []
    lefts, rights = [*left, 1], [*right, 1]
    for turn in turns:
        if (turn and lefts) or not rights:
            number = lefts.pop()
            join.offer_left(number, f"row {number}")
        else:
            number = rights.pop()
            join.offer_right(number, number * 60)
        released += join.ready()
    assert released == [(number, f"row {number}", number * 60) for number in range(1, 9)]
    assert join.waiting == 0


def fill(left: list[int], right: list[int]) -> Join[int, int]:
    join: Join[int, int] = Join()
    for number in left:
        join.offer_left(number, number)
    for number in right:
        join.offer_right(number, number)
    return join


def test_numbers_overtaken_on_both_ways_are_given_up_at_the_second_call() -> None:
    """Lost are those that miss a half while both ways went on; the rest is released."""
    join = fill([1, 4, 5, 6], [1, 2, 4, 6])
    assert [number for number, _, _ in join.ready()] == [1]
    assert join.skip_overtaken().count == 0
    assert join.skip_overtaken() == LostNumbers(2, ((2, 3),))
    assert [number for number, _, _ in join.ready()] == [4]
    join.skip_overtaken()
    join.skip_overtaken()
    assert [number for number, _, _ in join.ready()] == [6]
    assert join.lost == LostNumbers(3, ((2, 3), (5, 5)))


def test_a_way_that_is_only_slow_loses_nothing() -> None:
    """While one way has not gone beyond a number, it is waited for."""
    join = fill([1, 2, 3], [])
    for _ in range(3):
        assert join.skip_overtaken().count == 0
    join.offer_right(1, 1)
    assert [number for number, _, _ in join.ready()] == [1]


def test_progress_between_two_calls_starts_the_wait_anew() -> None:
    """A number is given up only when it was already due at the last call."""
    join = fill([1, 3, 5], [1, 3, 5])
    assert [number for number, _, _ in join.ready()] == [1]
    join.skip_overtaken()
    join.offer_left(2, 2)
    join.offer_right(2, 2)
    assert [number for number, _, _ in join.ready()] == [2, 3]
    assert join.skip_overtaken().count == 0
    assert join.skip_overtaken() == LostNumbers(1, ((4, 4),))


def test_numbers_that_come_again_are_refused() -> None:
    """A second half of the same way, or of a number that is done, says that something was restarted."""
    join = fill([1, 3], [1])
    list(join.ready())
    for number in (1, 3):
        with pytest.raises(StaleSequenceError, match=f"number {number} came again"):
            join.offer_left(number, number)


def test_a_full_join_refuses_all_but_the_number_that_is_due() -> None:
    """Memory is bounded, and the join can always empty itself."""
    join: Join[int, int] = Join(most_waiting=2)
    join.offer_left(1, 1)
    join.offer_left(2, 2)
    with pytest.raises(JoinOverflowError, match="wait for a number of both ways; 3 is dropped"):
        join.offer_left(3, 3)
    join.offer_right(1, 1)
    assert [number for number, _, _ in join.ready()] == [1]
    join.offer_left(4, 4)
    with pytest.raises(JoinOverflowError, match="wait for sequence number 2; 3 is dropped"):
        join.offer_right(3, 3)
    join.offer_right(2, 2)
    assert [number for number, _, _ in join.ready()] == [2]


@settings(deadline=None)
@given(
    left=st.integers(1, 6), right=st.integers(1, 6), turns=st.lists(st.booleans(), min_size=30, max_size=30)
)
def test_a_join_begins_at_the_first_number_of_both_ways(left: int, right: int, turns: list[bool]) -> None:
    """Where each way begins makes no loss: what only one of them has is dropped, all later pairs come."""
    join: Join[int, int] = Join()
    lefts, rights = deque(range(left, 12)), deque(range(right, 12))
    released = []
    for turn in turns:
        if (turn and lefts) or not rights:
            if lefts:
                join.offer_left(lefts[0], lefts.popleft())
        else:
            join.offer_right(rights[0], rights.popleft())
        released += [number for number, _, _ in join.ready()]
    assert released == list(range(max(left, right), 12))
    assert join.lost.count == 0
    assert sorted(join.take_dropped()) == list(range(min(left, right), max(left, right)))
    assert join.take_dropped() == []


def test_a_jump_of_any_size_is_given_up_at_once() -> None:
    """The numbers of a later life may be far above: they are no loop, and their halves are dropped."""
    far = 1 << 40
    join = fill([1, 2, far], [1, far, far + 1])
    assert [number for number, _, _ in join.ready()] == [1]
    join.skip_overtaken()
    assert join.skip_overtaken() == LostNumbers(far - 2, ((2, far - 1),))
    assert join.take_dropped() == [2]
    assert [number for number, _, _ in join.ready()] == [far]


def test_a_check_tells_gaps_and_refuses_repetition() -> None:
    """Jumped numbers are lost; a number that was seen is stale, except as the last of a run."""
    check = SequenceCheck()
    for number in (41, 44, 45, 47):
        check.see(number)
    assert check.lost == LostNumbers(3, ((42, 43), (46, 46)))
    with pytest.raises(StaleSequenceError):
        check.see(45)
    check.see_last(43)
    assert check.lost.count == 3


@settings(deadline=None)
@given(st.lists(st.integers(1, 30)))
def test_the_first_time_of_a_number_is_told_from_later_ones(numbers: list[int]) -> None:
    """In whatever order numbers come, as a plain set would tell."""
    first, known = FirstTimes(), set()
    for number in numbers:
        assert first.see(number) == (number not in known)
        known.add(number)


def test_numbers_that_never_come_are_forgotten_some_day() -> None:
    """Memory is bounded: the oldest missing number is taken for a repetition then."""
    first = FirstTimes()
    for number in (1, FirstTimes.MOST_MISSING + 3, FirstTimes.MOST_MISSING + 5):
        first.see(number)
    assert not first.see(2)
    assert not first.see(3)
    assert first.see(4)


def test_adjoining_losses_are_one_range_and_ranges_are_bounded() -> None:
    """The count is always right; only the first ranges are listed."""
    lost = LostNumbers().including(1, 2).including(3, 3)
    assert lost == LostNumbers(3, ((1, 3),))
    for number in range(10, 1_000, 2):
        lost = lost.including(number, number)
    assert (lost.count, len(lost.ranges)) == (498, LostNumbers.MOST_RANGES)


def test_totals_survive_the_journey() -> None:
    """Encoding and decoding loses nothing; a component without loss is not named."""
    totals = (
        Totals(10, 7, {"columns": 3}).with_lost("a", LostNumbers()).with_lost("b", LostNumbers(1, ((4, 4),)))
    )
    totals = totals.with_began("a", 0).with_began("b", 5)
    assert Totals.decode(totals.encode()) == totals
    assert set(totals.lost) == {"b"}
    assert totals.began == {"b": 5}
    assert totals.rejected_rows == 3
