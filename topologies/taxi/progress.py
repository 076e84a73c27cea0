"""Order by sequence numbers: what is missing is noticed, what comes by two ways is joined.

Numbers begin anywhere, since a component may have been restarted elsewhere while the query runs.
"""

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
    """Checks that numbers come one after the other on a way that keeps order, from the first that it sees."""

    def __init__(self) -> None:
        self._expected: int | None = None
        self.lost = LostNumbers()

    def see(self, number: int) -> None:
        """Take the next number; those that were jumped over count as lost.

        Raises:
            StaleSequenceError: The number, or a later one, was seen before.
        """
        expected = number if self._expected is None else self._expected
        if number < expected:
            msg = f"sequence number {number} after {expected - 1}: an upstream component was restarted"
            raise StaleSequenceError(msg)
        if number > expected:
            self.lost = self.lost.including(expected, number - 1)
        self._expected = number + 1

    def see_last(self, number: int) -> None:
        """Take the number of the last tuple; it may be stale, as a run has to end after a restart too."""
        if self._expected is None or number >= self._expected:
            self.see(number)


class FirstTimes:
    """Tells the first coming of each number from later ones, also where numbers come late.

    Memory: the numbers that were jumped over and never came, of which the latest `MOST_MISSING` are kept (an
    older one that comes after all is taken for a repetition), and late ones from before the first.
    """

    MOST_MISSING = 100_000

    def __init__(self) -> None:
        self._first: int | None = None
        self.highest = 0
        self._missing: dict[int, None] = {}  # a set that knows its order
        self._before: set[int] = set()

    def see(self, number: int) -> bool:
        """Return whether the number comes for the first time."""
        if self._first is None:
            self._first = self.highest = number
            return True
        if number > self.highest:
            self._miss(range(self.highest + 1, number))
            self.highest = number
            return True
        if number < self._first:
            known = number in self._before
            self._before.add(number)
            return not known
        if number in self._missing:
            del self._missing[number]
            return True
        return False

    def _miss(self, numbers: range) -> None:
        self._missing.update(dict.fromkeys(numbers[-self.MOST_MISSING :]))
        while len(self._missing) > self.MOST_MISSING:
            del self._missing[next(iter(self._missing))]


class Join(Generic[A, B]):
    """Joins two paths by sequence number and releases the pairs strictly in order, from the first on.

    It begins at the first number that both paths have: on paths that keep order no smaller one can become
    complete. After that either path may deliver in any order. A number counts as lost only when both paths
    have gone beyond it and it is still missing at the second `skip_overtaken` in a row: a path that is merely
    slow loses nothing.

    Args:
        most_waiting: Numbers that may wait for their turn or their other half.
    """

    def __init__(self, most_waiting: int = 100_000) -> None:
        self._most_waiting = most_waiting
        self._expected: int | None = None
        self._left: dict[int, A] = {}
        self._right: dict[int, B] = {}
        self._highest_left = 0
        self._highest_right = 0
        self._suspect = 0
        self._dropped: list[A | B] = []
        self.lost = LostNumbers()

    @property
    def waiting(self) -> int:
        """How many halves wait."""
        return len(self._left) + len(self._right)

    def offer_left(self, number: int, value: A) -> None:
        """Take the first path's half of a number.

        Raises:
            StaleSequenceError: It came before, or is below the first number.
            JoinOverflowError: Too many wait; the half is not taken.
        """
        self._admit(number, self._left, self._right)
        self._left[number] = value
        self._highest_left = max(self._highest_left, number)

    def offer_right(self, number: int, value: B) -> None:
        """Take the second path's half of a number; raises as `offer_left`."""
        self._admit(number, self._right, self._left)
        self._right[number] = value
        self._highest_right = max(self._highest_right, number)

    def _admit(
        self, number: int, side: dict[int, A] | dict[int, B], other: dict[int, A] | dict[int, B]
    ) -> None:
        if number in side or (self._expected is not None and number < self._expected):
            msg = f"sequence number {number} came again or too late, due is {self._expected}"
            raise StaleSequenceError(msg)
        begins = self._expected is None and number in other
        # the half that lets the others go is always taken, or the join could never empty itself
        if not begins and number != self._expected and self.waiting >= self._most_waiting:
            due = "a number of both ways" if self._expected is None else f"sequence number {self._expected}"
            msg = f"{self.waiting} halves wait for {due}; {number} is dropped"
            raise JoinOverflowError(msg)
        if begins:
            self._expected = number
            self._drop_below(number)

    def ready(self) -> Iterator[tuple[int, A, B]]:
        """Yield the pairs whose turn has come, in order."""
        while self._expected is not None and self._expected in self._left and self._expected in self._right:
            number = self._expected
            self._expected += 1
            yield number, self._left.pop(number), self._right.pop(number)

    def skip_overtaken(self) -> LostNumbers:
        """Give up the number that is due, and those after it that miss a half, if it was due last time too.

        Call it at intervals longer than any reordering. After it, ask `ready` again.

        Returns:
            The numbers given up by this call.
        """
        first = self._expected
        limit = min(self._highest_left, self._highest_right)
        if first is None or first >= limit:
            self._suspect = 0
            return LostNumbers()
        if first != self._suspect:
            self._suspect = first
            return LostNumbers()
        self._suspect = 0
        self._expected = min([limit, *(self._left.keys() & self._right.keys())])
        if self._expected == first:
            return LostNumbers()
        self._drop_below(self._expected)
        self.lost = self.lost.including(first, self._expected - 1)
        return LostNumbers().including(first, self._expected - 1)

    def take_dropped(self) -> list[A | B]:
        """Return the halves that were given up since the last call: they will never be released."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def _drop_below(self, number: int) -> None:
        for side in (self._left, self._right):
            for low in [each for each in side if each < number]:
                self._dropped.append(side.pop(low))
