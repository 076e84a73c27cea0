"""The best of many entities over time, from the list of all changes of their levels.

Few changes touch the best. The changes are cut into segments; for each a level is found that at least
`STATE_RANKS` entities reach all the time, and only changes at or above that level are replayed one by one, on
a sorted list that begins with the entities that are above it at the segment's start.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from replay.expected.query1 import STATE_RANKS, TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.expected.kernel.stops import Stops
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


SEGMENT = 16_384
ABSENT = -np.inf
_LOWEST = -np.finfo(np.float64).max
#: Ranks whose levels are tried in turn as a segment's lower bound.
_TRIED = (11, 12, 14, 18, 26, 42, 74, 138, 266, 522)


@dataclass(frozen=True, eq=False)
class Changes:
    """How entities change, in order of time; a state is the number of the change that led to it.

    Attributes:
        stop: (n_changes,) stop of the change, never falling; at most one change counts per entity and stop in
            the end, the last.
        entity: (n_changes,) from 0 on.
        level: (n_changes,) level afterwards; `ABSENT` if the entity is not listed.
        fresh: (n_changes,) of equal levels the greater ranks first; of two of the same, the smaller entity.
        label: (n_changes,) an output row is written when the labels of the best ten change.
        entities: Number of entities.
    """

    stop: IntArray
    entity: IntArray
    level: FloatArray
    fresh: IntArray
    label: IntArray
    entities: int

    def before(self) -> IntArray:
        """Return (n_changes,) the state of the same entity before each change, -1 for none."""
        order = np.argsort(self.entity, kind="stable")
        previous = np.full(order.size, -1, dtype=np.int64)
        same = self.entity[order[1:]] == self.entity[order[:-1]]
        previous[order[1:][same]] = order[:-1][same]
        return previous


@dataclass
class Lists:
    """Lists of states, one per moment.

    Attributes:
        stops: The moments.
        sizes: Length of each list.
        states: All lists one after the other, each best first.
    """

    stops: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    states: list[int] = field(default_factory=list)

    def add(self, stop: int, states: Iterable[int]) -> None:
        """Add a list."""
        before = len(self.states)
        self.states.extend(states)
        self.stops.append(stop)
        self.sizes.append(len(self.states) - before)


@dataclass
class Course:
    """What a block's ranking came to.

    Attributes:
        snapshots: At each instant and minute: ranks 1 to 11, and behind them all that are level with rank 11.
        tops: The best ten after each trip, or instant to look at, that changed them; always after the first
            one that is no history, as what was before it is another block's.
        last: The best ten after the last trip.
    """

    snapshots: Lists
    tops: Lists
    last: list[int]


def follow(stops: Stops, changes: Changes) -> Course:
    """Replay a block's changes and note its states and output rows."""
    return _Replay(stops, changes).run()


class _Replay:
    def __init__(self, stops: Stops, changes: Changes) -> None:
        self._changes = changes
        self._before = changes.before()
        self._first = stops.first_own
        # Every moment that is looked at gets an action, also one at which nothing changes. A trip after the
        # end of a minute is one: what changed at that end shows in its row.
        self._snap = stops.instant | stops.minute
        probes = self._snap.copy()
        probes[1:] |= stops.minute[:-1]
        probes[self._first] = True
        self._probes = np.flatnonzero(probes)
        self._shows = stops.takes | stops.leaves
        self._count = stops.clock.size
        self._course = Course(Lists(), Lists(), [])
        self._labels: list[int] | None = None

    def run(self) -> Course:
        changes = self._changes
        current = np.full(changes.entities, -1, dtype=np.int64)
        begin = int(np.searchsorted(changes.stop, self._first, side="left"))
        current[changes.entity[:begin]] = np.arange(begin)
        at = begin
        while True:
            # a segment ends with a stop, so that no stop is looked at before it is complete
            end = min(at + SEGMENT, changes.stop.size)
            end_stop = self._count
            if end < changes.stop.size:
                end_stop = int(changes.stop[end - 1]) + 1
                end = int(np.searchsorted(changes.stop, end_stop, side="left"))
            self._segment(current, at, end, end_stop)
            current[changes.entity[at:end]] = np.arange(at, end)
            at = end
            if end_stop == self._count:
                return self._course

    def _segment(self, current: IntArray, at: int, end: int, end_stop: int) -> None:
        """Replay the changes [at, end), which lie before `end_stop`, and what is looked at among them."""
        changes = self._changes
        listed = current[current >= 0]
        before, after = self._before[at:end], np.arange(at, end)
        before_level = np.where(before >= 0, changes.level[before], ABSENT)
        after_level = changes.level[at:end]
        bound = _lower_bound(changes.level[listed], before_level, after_level)
        start = listed[changes.level[listed] >= bound]
        removed, inserted = before_level >= bound, after_level >= bound
        touched = removed | inserted
        states = np.unique(np.concatenate([start, before[removed], after[inserted]]))
        order = np.lexsort(
            (-changes.entity[states], changes.fresh[states], changes.level[states]),
        )
        ranked = states[order]  # a state's key is its place here
        key = np.empty(states.size, dtype=np.int64)
        key[order] = np.arange(states.size)

        def keys_of(wanted: IntArray, where: BoolArray) -> IntArray:
            found = np.full(wanted.size, -1, dtype=np.int64)
            found[where] = key[np.searchsorted(states, wanted[where])]
            return found

        old = keys_of(before, removed)[touched]
        new = keys_of(after, inserted)[touched]
        probes = self._probes[slice(*np.searchsorted(self._probes, (self._at_least(at), end_stop)))]
        stop = np.concatenate([changes.stop[at:end][touched], probes])
        nothing = np.full(probes.size, -1, dtype=np.int64)
        sequence = np.argsort(stop, kind="stable")
        stop = stop[sequence]
        old, new = np.concatenate([old, nothing])[sequence], np.concatenate([new, nothing])[sequence]
        keys = np.sort(key[np.searchsorted(states, start)]).tolist()
        self._actions(keys, stop, old, new, ranked)

    def _at_least(self, at: int) -> int:
        """Return the first stop that no segment before the change `at` has looked at."""
        changes = self._changes
        if at == 0 or changes.stop[at - 1] < self._first:
            return self._first
        return int(changes.stop[at - 1]) + 1

    def _actions(
        self, keys: list[int], stop: IntArray, old: IntArray, new: IntArray, ranked: IntArray
    ) -> None:
        """Replay a segment's actions on its sorted list of keys, and look at the list after each stop."""
        changes = self._changes
        level = changes.level[ranked]
        floor = np.searchsorted(level, level, side="left").tolist()
        labels, states = changes.label[ranked].tolist(), ranked.tolist()
        ends = np.append(stop[1:] != stop[:-1], [True] * min(1, stop.size))
        snap, shows = self._snap[stop], self._shows[stop]
        actions = zip(
            stop.tolist(),
            old.tolist(),
            new.tolist(),
            ends.tolist(),
            snap.tolist(),
            shows.tolist(),
            strict=True,
        )
        best: list[int] | None = None
        course = self._course
        for moment, remove, insert, complete, look, row in actions:
            if remove >= 0:
                del keys[bisect_left(keys, remove)]
            if insert >= 0:
                insort(keys, insert)
            if not complete:
                continue
            if row and keys[-TOP:] != best:
                best = keys[-TOP:]
                found = [labels[each] for each in reversed(best)]
                if found != self._labels:
                    self._labels = found
                    course.tops.add(moment, [states[each] for each in reversed(best)])
                course.last = [states[each] for each in reversed(best)]
            if look:
                low = bisect_left(keys, floor[keys[-STATE_RANKS]]) if len(keys) >= STATE_RANKS else 0
                course.snapshots.add(moment, [states[each] for each in reversed(keys[low:])])


def _lower_bound(start: FloatArray, before: FloatArray, after: FloatArray) -> float:
    """Return a level that at least `STATE_RANKS` entities reach throughout a segment, or the lowest of all.

    Args:
        start: Levels of all entities at the segment's start.
        before: (n_changes,) level of the changing entity before each change, in order of time.
        after: (n_changes,) and after it.
    """
    listed = start[start > ABSENT]
    places = [rank for rank in _TRIED if rank <= listed.size]
    if not places:
        return float(_LOWEST)
    levels = -np.partition(-listed, [rank - 1 for rank in places])
    for rank in places:
        bound = levels[rank - 1]
        steps = (after >= bound).astype(np.int64) - (before >= bound)
        fewest = int((listed >= bound).sum()) + min(0, int(np.cumsum(steps).min(initial=0)))
        if fewest >= STATE_RANKS:
            return float(bound)
    return float(_LOWEST)
