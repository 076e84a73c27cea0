"""The cheapest choices of a few things whose costs are sums over single ones and pairs, by dynamic
programming.

One after the other is eliminated: what its neighbours may choose gets the least that it costs then (R.
Dechter, "Bucket elimination", Artificial Intelligence 113, 1999). Next is always the one with the fewest
neighbours. That is quick where graphs are chains, trees or nearly so, as operator graphs are: tables have an
axis per neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray

    Pairs = Sequence[tuple[tuple[int, int], FloatArray]]
    """Two things, the smaller one first, and (n_first, n_second) what their choices cost together."""


@dataclass(frozen=True)
class _Bucket:
    """A thing to be eliminated.

    Attributes:
        thing: Which.
        beside: Neighbours that are left, ascending.
        parent: Position of the bucket that gets what is left of this one; -1 for none.
    """

    thing: int
    beside: tuple[int, ...]
    parent: int


@lru_cache(maxsize=256)
def _buckets(count: int, pairs: frozenset[tuple[int, int]]) -> tuple[_Bucket, ...]:
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for i, j in pairs:
        neighbours[i].add(j)
        neighbours[j].add(i)
    left = set(range(count))
    order: list[tuple[int, tuple[int, ...]]] = []
    while left:
        thing = min(left, key=lambda each: (len(neighbours[each]), each))
        beside = neighbours[thing]
        order.append((thing, tuple(sorted(beside))))
        for each in beside:
            neighbours[each] = (neighbours[each] | beside) - {each, thing}
        left.remove(thing)
    position = {thing: k for k, (thing, _) in enumerate(order)}
    return tuple(
        _Bucket(thing, beside, min((position[each] for each in beside), default=-1))
        for thing, beside in order
    )


def width(count: int, pairs: Sequence[tuple[int, int]]) -> int:
    """Return the most neighbours that a thing has when it is eliminated: tables have an axis more."""
    return max(len(each.beside) for each in _buckets(count, frozenset(pairs)))


class Elimination:
    """Costs, and what follows from them.

    Args:
        own: Per thing, (n_choices,) what its choices cost by themselves; infinite for those that are none.
        pairs: What choices of two cost together; each pair once.
    """

    def __init__(self, own: Sequence[FloatArray], pairs: Pairs) -> None:
        self._own = own
        self._buckets = _buckets(len(own), frozenset(ends for ends, _ in pairs))
        position = {each.thing: k for k, each in enumerate(self._buckets)}
        self._factors: list[list[tuple[tuple[int, ...], FloatArray]]] = [
            [((each.thing,), own[each.thing])] for each in self._buckets
        ]
        for ends, cost in pairs:
            self._factors[min(position[ends[0]], position[ends[1]])].append((ends, cost))
        self._tables: list[FloatArray] = []
        self._up: list[FloatArray] = []
        self._eliminate()

    def _eliminate(self) -> None:
        self.least = 0.0
        incoming: list[list[tuple[tuple[int, ...], FloatArray]]] = [[] for _ in self._buckets]
        for k, bucket in enumerate(self._buckets):
            table = self._summed(bucket, [*self._factors[k], *incoming[k]])
            self._tables.append(table)
            rest: FloatArray = table.min(axis=0)
            self._up.append(rest)
            if bucket.parent < 0:
                self.least += float(rest)
            else:
                incoming[bucket.parent].append((bucket.beside, rest))

    def _summed(self, bucket: _Bucket, factors: Sequence[tuple[tuple[int, ...], FloatArray]]) -> FloatArray:
        """Return the sum of factors over (choices of the thing, choices of each neighbour)."""
        axes = (bucket.thing, *bucket.beside)
        total = np.zeros([len(self._own[each]) for each in axes])
        for things, cost in factors:
            order = sorted(range(len(things)), key=lambda axis: axes.index(things[axis]))
            shape = [len(self._own[each]) if each in things else 1 for each in axes]
            total += cost.transpose(order).reshape(shape)
        return total

    def choices(self) -> IntArray | None:
        """Return (n_things,) the choices that cost least together, the first of equals; None if none do."""
        if not np.isfinite(self.least):
            return None
        chosen = np.zeros(len(self._own), dtype=np.int64)
        for bucket, table in zip(reversed(self._buckets), reversed(self._tables), strict=True):
            column = np.moveaxis(table, 0, -1)[tuple(int(chosen[each]) for each in bucket.beside)]
            chosen[bucket.thing] = int(column.argmin())
        return chosen

    def least_with(self) -> list[FloatArray]:
        """Return per thing (n_choices,) what all cost at least with each of its choices."""
        children: list[list[int]] = [[] for _ in self._buckets]
        for k, bucket in enumerate(self._buckets):
            if bucket.parent >= 0:
                children[bucket.parent].append(k)
        roots = {k: float(self._up[k]) for k, each in enumerate(self._buckets) if each.parent < 0}
        found: list[FloatArray] = [np.zeros(0)] * len(self._own)
        above: list[list[tuple[tuple[int, ...], FloatArray]]] = [[] for _ in self._buckets]
        for k in reversed(range(len(self._buckets))):
            bucket = self._buckets[k]
            others = sum(value for root, value in roots.items() if root != k) if bucket.parent < 0 else 0.0
            up = {child: (self._buckets[child].beside, self._up[child]) for child in children[k]}
            factors = [*self._factors[k], *above[k]]
            whole = self._summed(bucket, [*factors, *up.values()]) + others
            found[bucket.thing] = whole.reshape(len(whole), -1).min(axis=1)
            axes = (bucket.thing, *bucket.beside)
            for child in children[k]:
                # what is above a child is all but what it has sent up itself
                rest = [each for other, each in up.items() if other != child]
                table = self._summed(bucket, [*factors, *rest]) + others
                kept = self._buckets[child].beside
                gone = tuple(axis for axis, each in enumerate(axes) if each not in kept)
                above[child].append((tuple(each for each in axes if each in kept), table.min(axis=gone)))
        return found
