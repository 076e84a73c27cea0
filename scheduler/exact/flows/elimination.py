"""The cheapest choices of a few things whose costs are sums over single ones and pairs, by dynamic
programming.

One after the other is eliminated: what its neighbours may choose gets the least that it costs then (R.
Dechter, "Bucket elimination", Artificial Intelligence 113, 1999). Next is always the one with the fewest
neighbours. That is quick where graphs are chains, trees or nearly so, as operator graphs are: tables have an
axis per neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray

    Pairs = Sequence[tuple[tuple[int, int], FloatArray]]
    """Two things, the smaller one first, and what their choices cost together."""
    Factor = tuple[tuple[int, ...], FloatArray]
    """Things, and (n_problems, choices of each thing) what their choices cost together."""


@dataclass(frozen=True)
class _Bucket:
    """A thing to be eliminated.

    Attributes:
        thing: Which.
        beside: Neighbours that are left, ascending.
        parent: Position of the bucket that gets what is left of this one; -1 for none.
        axes: The thing and its neighbours: axes of its table, behind the one of problems.
    """

    thing: int
    beside: tuple[int, ...]
    parent: int
    axes: tuple[int, ...]


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
        _Bucket(thing, beside, min((position[each] for each in beside), default=-1), (thing, *beside))
        for thing, beside in order
    )


def width(count: int, pairs: Sequence[tuple[int, int]]) -> int:
    """Return the most neighbours that a thing has when it is eliminated: tables have an axis more."""
    return max((len(each.beside) for each in _buckets(count, frozenset(pairs))), default=0)


@lru_cache(maxsize=4096)
def _spread(
    things: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[slice | None, ...]]:
    """Return how axes of things, behind the one of problems, are moved and where, to become others."""
    order = sorted(range(len(things)), key=lambda axis: axes.index(things[axis]))
    return (0, *(1 + axis for axis in order)), (
        slice(None),
        *(slice(None) if each in things else None for each in axes),
    )


def _summed(axes: tuple[int, ...], factors: Sequence[Factor]) -> FloatArray:
    """Return (n_problems, choices of each axis) the sum of factors; each axis is one of a factor.

    It is quickest if those of few things come first, so that few sums are over all axes.
    """
    terms = []
    for things, cost in factors:
        order, index = _spread(things, axes)
        terms.append(cost.transpose(order)[index])
    total: FloatArray = reduce(np.add, terms)
    return total


class Eliminations:
    """Costs of several problems whose things have the same neighbours, and what follows from them.

    Attributes:
        least: (n_problems,) what all things cost at least; infinite where no choices are left.

    Args:
        own: Per thing, (n_problems, n_choices) what its choices cost by themselves; infinite for those that
            are none.
        pairs: What choices of two cost together, (n_problems, n_first, n_second); each pair once.
    """

    def __init__(self, own: Sequence[FloatArray], pairs: Pairs) -> None:
        self._things = len(own)
        self.buckets = _buckets(len(own), frozenset(ends for ends, _ in pairs))
        position = {each.thing: k for k, each in enumerate(self.buckets)}
        self.factors: list[list[Factor]] = [[((each.thing,), own[each.thing])] for each in self.buckets]
        for ends, cost in pairs:
            self.factors[min(position[ends[0]], position[ends[1]])].append((ends, cost))
        self._tables: list[FloatArray] = []
        self.up: list[FloatArray] = []
        incoming: list[list[Factor]] = [[] for _ in self.buckets]
        self.least: FloatArray = np.zeros(len(own[0]) if len(own) else 1)
        for k, bucket in enumerate(self.buckets):
            table = _summed(bucket.axes, [*self.factors[k], *incoming[k]])
            rest: FloatArray = table.min(axis=1)
            self._tables.append(table)
            self.up.append(rest)
            if bucket.parent < 0:
                self.least = self.least + rest
            else:
                incoming[bucket.parent].append((bucket.beside, rest))

    def choices(self) -> IntArray:
        """Return (n_problems, n_things) choices that cost least together, the first of equals.

        They mean nothing where the least is infinite.
        """
        chosen = np.zeros((len(self.least), self._things), dtype=np.int64)
        every = np.arange(len(self.least))
        for bucket, table in zip(reversed(self.buckets), reversed(self._tables), strict=True):
            # (n_problems, choices of the thing), with its neighbours where they are
            beside = tuple(chosen[:, each] for each in bucket.beside)
            column = table.transpose(0, *range(2, table.ndim), 1)[(every, *beside)]
            chosen[:, bucket.thing] = column.argmin(axis=1)
        return chosen


class Elimination:
    """Costs of one problem, and what follows from them.

    Attributes:
        least: What all things cost at least; infinite if no choices are left.

    Args:
        own: Per thing, (n_choices,) what its choices cost by themselves; infinite for those that are none.
        pairs: What choices of two cost together, (n_first, n_second); each pair once.
    """

    def __init__(self, own: Sequence[FloatArray], pairs: Pairs) -> None:
        self._all = Eliminations([each[None] for each in own], [(ends, each[None]) for ends, each in pairs])
        self.least = float(self._all.least[0])

    def choices(self) -> IntArray | None:
        """Return (n_things,) the choices that cost least together, the first of equals; None if none do."""
        return self._all.choices()[0] if np.isfinite(self.least) else None

    def least_with(self) -> list[FloatArray]:
        """Return per thing (n_choices,) what all cost at least with each of its choices."""
        buckets, up = self._all.buckets, self._all.up
        children: list[list[int]] = [[] for _ in buckets]
        for k, bucket in enumerate(buckets):
            if bucket.parent >= 0:
                children[bucket.parent].append(k)
        roots = {k: float(up[k][0]) for k, each in enumerate(buckets) if each.parent < 0}
        found: list[FloatArray] = [np.zeros(0)] * len(buckets)
        above: list[list[Factor]] = [[] for _ in buckets]
        for k in reversed(range(len(buckets))):
            bucket = buckets[k]
            others = sum(value for root, value in roots.items() if root != k) if bucket.parent < 0 else 0.0
            sent: dict[int, Factor] = {child: (buckets[child].beside, up[child]) for child in children[k]}
            factors = [*self._all.factors[k], *above[k]]
            whole = _summed(bucket.axes, [*factors, *sent.values()])[0] + others
            found[bucket.thing] = whole.reshape(len(whole), -1).min(axis=1)
            for child in children[k]:
                # what is above a child is all but what it has sent up itself
                rest = [each for other, each in sent.items() if other != child]
                table = _summed(bucket.axes, [*factors, *rest]) + others
                kept = buckets[child].beside
                gone = tuple(1 + axis for axis, each in enumerate(bucket.axes) if each not in kept)
                above[child].append(
                    (tuple(each for each in bucket.axes if each in kept), table.min(axis=gone))
                )
        return found
