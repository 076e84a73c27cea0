"""A path of components that share one bound: which numbers of executors carry the most, for each total."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, IntArray, frozen
from scheduler.base.checks import ModelError, name, number, shown, whole_number
from scheduler.elasticity.useful import choices, effective

if TYPE_CHECKING:
    from collections.abc import Sequence

_HALVINGS = 50
"""Of the range in which the highest rate of a rung lies."""
_ABOVE = 1e-9
"""Of the highest rate: what is less above that of a rung is the same."""


@dataclass(frozen=True)
class PathPart:
    """A component of a path.

    Attributes:
        component: Its name.
        per_item: Tuples that come to it for one that comes to the path (> 0).
        service_rate: mu, tuples per second of one executor (> 0).
        executors_max: Most executors (>= executors_min).
        executors_min: Least (>= 1).
        tasks: Among which executors are dealt (`useful`); None: as many as one likes.
    """

    component: str
    per_item: float
    service_rate: float
    executors_max: int
    executors_min: int = 1
    tasks: int | None = None

    def __post_init__(self) -> None:
        name("component", self.component)
        number("per_item", self.per_item, above=0.0)
        number("service_rate", self.service_rate, above=0.0)
        whole_number("executors_min", self.executors_min, 1)
        whole_number("executors_max", self.executors_max, self.executors_min)

    def served(self, executors: int) -> float:
        """Return how many tuples per second some executors keep up with."""
        return effective(self.tasks, executors) * self.service_rate

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """Numbers of executors that are worth choosing, by rising number."""
        return choices(self.tasks, self.executors_min, self.executors_max)


@dataclass(frozen=True)
class Path:
    """Components that share a bound.

    Attributes:
        parts: The components (at least one); rates are measured at the first.
        bound_ms: On the mean time along them, without the network, ms; above what they take without load.
    """

    parts: tuple[PathPart, ...]
    bound_ms: float

    def __post_init__(self) -> None:
        if not self.parts:
            raise ModelError("path.parts", "expected a component, got none")
        names = [part.component for part in self.parts]
        for k, each in enumerate(names):
            if each in names[:k]:
                raise ModelError(f"path.parts[{k}].component", f"{shown(each)} is there twice")
        alone = sum(1000.0 / part.service_rate for part in self.parts)
        number("path.bound_ms", self.bound_ms, above=alone)

    @property
    def executors_max(self) -> int:
        """Most executors of all parts."""
        return sum(part.executors_max for part in self.parts)

    @property
    def executors_min(self) -> int:
        """Least executors of all parts."""
        return sum(part.executors_min for part in self.parts)

    @cached_property
    def ladder(self) -> Ladder:
        """Its best numbers of executors (`ladder_of`), at hand without a look at all its parts."""
        return ladder_of(self)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {part.component: place for place, part in enumerate(self.parts)}

    def place(self, component: str) -> int | None:
        """Return the place of a component; None if it is no part of the path."""
        return self._places.get(component)

    def response_ms(self, executors: Sequence[int], rate: float) -> float:
        """Return the mean time along the path, ms; infinite where a part cannot keep up.

        Args:
            executors: (n_parts,) of each; they are equal queues (M/M/1).
            rate: Tuples per second that come to the path.
        """
        total = 0.0
        for part, k in zip(self.parts, executors, strict=True):
            total += _time_ms(part, k, rate)
        return total

    def capacity(self, executors: Sequence[int]) -> float:
        """Return the highest rate into the path that all parts keep up with, tuples per second.

        Args:
            executors: (n_parts,) of each part.
        """
        each = zip(self.parts, executors, strict=True)
        return min(part.served(k) / part.per_item for part, k in each)

    def kept(self, executors: Sequence[int]) -> float:
        """Return the highest rate into the path at which it keeps its bound, tuples per second.

        Args:
            executors: (n_parts,) of each part.
        """
        low, high = 0.0, self.capacity(executors)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            if self.response_ms(executors, middle) <= self.bound_ms:
                low = middle
            else:
                high = middle
        return low

    def least(self, rate: float) -> tuple[int, ...] | None:
        """Return the fewest executors that keep the bound (n_parts,); None if even the most do not.

        Args:
            rate: Tuples per second that come to the path.
        """
        choice = [part.choices for part in self.parts]
        places = [
            next((n for n, k in enumerate(part.choices) if part.served(k) > rate * part.per_item), None)
            for part in self.parts
        ]
        if None in places:
            return None
        first = [each for each in places if each is not None]
        at = list(first)
        times_ms = [
            _time_ms(part, each[n], rate) for part, each, n in zip(self.parts, choice, at, strict=True)
        ]
        # the time of a part falls ever more slowly with its executors: taking the largest gain is exact, and
        # nearly so where a step is of several executors
        gains = [(-_gain_ms(self.parts[i], n, rate), i) for i, n in enumerate(at) if n + 1 < len(choice[i])]
        heapify(gains)
        while sum(times_ms) > self.bound_ms:
            if not gains:
                return None
            _, best = heappop(gains)
            at[best] += 1
            times_ms[best] = _time_ms(self.parts[best], choice[best][at[best]], rate)
            if at[best] + 1 < len(choice[best]):
                heappush(gains, (-_gain_ms(self.parts[best], at[best], rate), best))
        if any(part.tasks is not None for part in self.parts):
            self._give_back(at, first, times_ms, rate)
        return tuple(each[n] for each, n in zip(choice, at, strict=True))

    def _give_back(self, at: list[int], first: Sequence[int], times_ms: list[float], rate: float) -> None:
        """Take steps back that a later, larger one has made needless, which those of one executor never do.

        Those of the most executors go first.

        Args:
            at: (n_parts,) places among choices; changed.
            first: (n_parts,) the least that keep up.
            times_ms: (n_parts,) mean times at these places, ms; changed.
            rate: Tuples per second that come to the path.
        """
        while True:
            spare_ms = self.bound_ms - sum(times_ms)
            back = []
            for i, part in enumerate(self.parts):
                if at[i] == first[i]:
                    continue
                less, now = part.choices[at[i] - 1 : at[i] + 1]
                slower_ms = _time_ms(part, less, rate) - times_ms[i]
                if slower_ms <= spare_ms:
                    back.append((now - less, -slower_ms, i))
            if not back:
                return
            _, slower_ms, best = max(back)
            at[best] -= 1
            times_ms[best] -= slower_ms


def _gain_ms(part: PathPart, place: int, rate: float) -> float:
    """Return by how much the next choice shortens the time in a part that keeps up, ms per executor more."""
    now, more = part.choices[place : place + 2]
    return (_time_ms(part, now, rate) - _time_ms(part, more, rate)) / (more - now)


def _time_ms(part: PathPart, executors: int, rate: float) -> float:
    """Return the mean time in a part, ms; infinite where it cannot keep up.

    Args:
        part: The part.
        executors: Of it.
        rate: Tuples per second that come to the path.
    """
    spare = part.service_rate - rate * part.per_item / effective(part.tasks, executors)
    return 1000.0 / spare if spare > 0.0 else math.inf


@dataclass(frozen=True, eq=False)
class Ladder:
    """The best numbers of executors for each total, by rising total; what carries no more is no rung.

    Attributes:
        executors: (n_rungs, n_parts) of each part.
        kept: (n_rungs,) highest rate into the path at which its bound is kept, tuples per second; rises.
        capacity: (n_rungs,) highest rate that all parts keep up with.
    """

    executors: tuple[tuple[int, ...], ...]
    kept: FloatArray
    capacity: FloatArray

    @cached_property
    def sizes(self) -> IntArray:
        """(n_rungs,) executors of all parts of each rung, where those of the first count as one."""
        totals = np.array([sum(each) for each in self.executors])
        sizes: IntArray = totals - totals[0] + 1
        sizes.flags.writeable = False
        return sizes


@lru_cache(maxsize=1024)
def ladder_of(path: Path) -> Ladder:
    """Return the best numbers of executors for each total; nearly so where a step is of several executors.

    Rung after rung: what is just enough above the rate that the last one keeps. If that takes no more
    executors, the last one was none.

    Args:
        path: The path.
    """
    above = _ABOVE * path.capacity([part.executors_max for part in path.parts])
    rungs: list[tuple[tuple[int, ...], float]] = []
    found = path.least(0.0)
    while found is not None:
        while rungs and sum(rungs[-1][0]) >= sum(found):
            rungs.pop()
        kept = path.kept(found)
        rungs.append((found, kept))
        found = path.least(kept + above)
    executors = tuple(each for each, _ in rungs)
    return Ladder(
        executors,
        frozen(np.array([kept for _, kept in rungs])),
        frozen(np.array([path.capacity(each) for each in executors])),
    )
