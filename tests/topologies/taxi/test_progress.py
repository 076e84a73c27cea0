"""Sequence numbers: order is restored, what is missing is told, what is slow is waited for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.taxi.progress import (
    Join,
    JoinOverflowError,
    LostNumbers,
    SequenceCheck,
    StaleSequenceError,
)
from topologies.taxi.totals import Totals


@given(
    st.permutations(range(1, 9)),
    st.permutations(range(1, 9)),
    st.lists(st.booleans(), min_size=16, max_size=16),
)
def test_pairs_come_in_order_whatever_the_arrivals(
    left: list[int], right: list[int], turns: list[bool]
) -> None:
    """Any order on each way and between the ways gives 1, 2, 3, ... with both halves."""
    join: Join[str, int] = Join()
    released: list[tuple[int, str, int]] = []
    lefts, rights = list(left), list(right)
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
    join = fill([2, 4], [2, 4])
    join.skip_overtaken()
    join.offer_left(1, 1)
    join.offer_right(1, 1)
    assert [number for number, _, _ in join.ready()] == [1, 2]
    assert join.skip_overtaken().count == 0
    assert join.skip_overtaken() == LostNumbers(1, ((3, 3),))


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
    join.offer_left(2, 2)
    join.offer_left(3, 3)
    with pytest.raises(JoinOverflowError, match="wait for sequence number 1; 4 is dropped"):
        join.offer_left(4, 4)
    join.offer_left(1, 1)
    join.offer_right(1, 1)
    assert [number for number, _, _ in join.ready()] == [1]


def test_a_check_tells_gaps_and_refuses_repetition() -> None:
    """Jumped numbers are lost; a number that was seen is stale, except as the last of a run."""
    check = SequenceCheck()
    for number in (1, 4, 5, 7):
        check.see(number)
    assert check.lost == LostNumbers(3, ((2, 3), (6, 6)))
    with pytest.raises(StaleSequenceError):
        check.see(5)
    check.see_last(3)
    assert check.lost.count == 3


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
    assert Totals.decode(totals.encode()) == totals
    assert set(totals.lost) == {"b"}
    assert totals.rejected_rows == 3
