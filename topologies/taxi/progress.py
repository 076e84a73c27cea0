"""Order by sequence numbers: what is missing is noticed, what comes by two ways is joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

A = TypeVar("A")
B = TypeVar("B")


class StaleSequenceError(Exception):
    """A number came a second time: a component before this one was restarted, or a tuple was doubled."""


class JoinOverflowError(Exception):
    """More rows wait for their other half than the join may hold."""


@dataclass(frozen=True, slots=True)
class LostNumbers:
    """Sequence numbers that never came.

    Attributes:
        count: How many.
        ranges: First and last number of each run of them; only the first `MOST_RANGES` runs are kept.
    """

    count: int = 0
    ranges: tuple[tuple[int, int], ...] = ()

    MOST_RANGES = 100

    def including(self, first: int, last: int) -> LostNumbers:
        """Return the same with the numbers `first` to `last` added, which follow all before."""
        ranges = self.ranges
        if ranges and ranges[-1][1] + 1 == first:
            ranges = (*ranges[:-1], (ranges[-1][0], last))
        elif len(ranges) < self.MOST_RANGES:
            ranges = (*ranges, (first, last))
        return LostNumbers(self.count + last - first + 1, ranges)


class SequenceCheck:
    """Checks that numbers come as 1, 2, 3, ... on a way that keeps order."""

    def __init__(self) -> None:
        self._expected = 1
        self.lost = LostNumbers()

    def see(self, number: int) -> None:
        """Take the next number; those that were jumped over count as lost.

        Raises:
            StaleSequenceError: The number, or a later one, was seen before.
        """
        if number < self._expected:
            msg = f"sequence number {number} after {self._expected - 1}: an upstream component was restarted"
            raise StaleSequenceError(msg)
        if number > self._expected:
            self.lost = self.lost.including(self._expected, number - 1)
        self._expected = number + 1

    def see_last(self, number: int) -> None:
        """Take the number of the last tuple; it may be stale, as a run has to end after a restart too."""
        if number >= self._expected:
            self.see(number)


class Join(Generic[A, B]):
    """Joins two paths by sequence number and releases the pairs strictly in order 1, 2, 3, ...

    Either path may deliver in any order. A number counts as lost only when both paths have gone beyond it
    and it is still missing at the second `skip_overtaken` in a row: a path that is merely slow loses nothing.

    Args:
        most_waiting: Numbers that may wait for their turn or their other half.
    """

    def __init__(self, most_waiting: int = 100_000) -> None:
        self._most_waiting = most_waiting
        self._expected = 1
        self._left: dict[int, A] = {}
        self._right: dict[int, B] = {}
        self._highest_left = 0
        self._highest_right = 0
        self._suspect = 0
        self.lost = LostNumbers()

    @property
    def waiting(self) -> int:
        """How many halves wait."""
        return len(self._left) + len(self._right)

    def offer_left(self, number: int, value: A) -> None:
        """Take the first path's half of a number.

        Raises:
            StaleSequenceError: It came before.
            JoinOverflowError: Too many wait; the half is not taken.
        """
        self._admit(number, self._left)
        self._left[number] = value
        self._highest_left = max(self._highest_left, number)

    def offer_right(self, number: int, value: B) -> None:
        """Take the second path's half of a number; raises as `offer_left`."""
        self._admit(number, self._right)
        self._right[number] = value
        self._highest_right = max(self._highest_right, number)

    def _admit(self, number: int, side: dict[int, A] | dict[int, B]) -> None:
        if number < self._expected or number in side:
            msg = (
                f"sequence number {number} came again, due is {self._expected}: "
                "an upstream component was restarted"
            )
            raise StaleSequenceError(msg)
        # the half that lets the others go is always taken, or the join could never empty itself
        if number != self._expected and self.waiting >= self._most_waiting:
            msg = f"{self.waiting} halves wait for sequence number {self._expected}; {number} is dropped"
            raise JoinOverflowError(msg)

    def ready(self) -> Iterator[tuple[int, A, B]]:
        """Yield the pairs whose turn has come, in order."""
        while self._expected in self._left and self._expected in self._right:
            number = self._expected
            self._expected += 1
            yield number, self._left.pop(number), self._right.pop(number)

    def skip_overtaken(self) -> LostNumbers:
        """Give up the number that is due, and those after it that miss a half, if it was due last time too.

        Call it at intervals longer than any reordering. After it, ask `ready` again.

        Returns:
            The numbers given up by this call.
        """
        given_up = LostNumbers()
        overtaken = min(self._highest_left, self._highest_right) > self._expected
        if not overtaken or self._suspect != self._expected:
            self._suspect = self._expected if overtaken else 0
            return given_up
        limit = min(self._highest_left, self._highest_right)
        while self._expected < limit and not (self._expected in self._left and self._expected in self._right):
            self._left.pop(self._expected, None)
            self._right.pop(self._expected, None)
            given_up = given_up.including(self._expected, self._expected)
            self.lost = self.lost.including(self._expected, self._expected)
            self._expected += 1
        self._suspect = 0
        return given_up
