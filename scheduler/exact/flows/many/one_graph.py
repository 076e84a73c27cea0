"""The best places of one graph in what others leave, among the places that are worth looking at."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.elimination import Elimination
from scheduler.exact.flows.many.near import least_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.flows.many.near import Near
    from scheduler.exact.flows.many.pricing import Pricing
    from scheduler.exact.flows.many.stock import RowArray

PLACES = 12
"""Places of a block that are looked at together: those with which the graph costs least in what is left."""


@dataclass(frozen=True, eq=False)
class Spot:
    """Where a graph is.

    Attributes:
        nodes: (n_free,) of its free blocks.
        rows: (n_uses,) the rows of what it uses.
        amounts: (n_uses,) how much of them.
        cost: F of its free blocks and of their flows.
        priced: The same at prices.
    """

    nodes: IntArray
    rows: IntArray
    amounts: FloatArray
    cost: float
    priced: float


def best_spot(
    pricing: Pricing, near: Near, left: FloatArray, cases: int, extra: FloatArray | None = None
) -> Spot | None:
    """Return the best places of a graph by itself, at prices; None if none is found.

    What does not fit for one block alone is left out first. If blocks and flows of the graph together need
    more of a row than is left, one of them has to be elsewhere: a case for each of them, the one that costs
    least first.

    Args:
        pricing: The graphs.
        near: Places of the graph.
        left: (n_rows + 1,) what is left of rows.
        cases: How many cases are looked at.
        extra: (n_free, n_places) what places cost more than they do; None for nothing.
    """
    looked = _LookedAt(pricing, near, left, extra)
    heap: list[tuple[float, int, _Case]] = []
    number = 0
    new: Iterator[_Case] = iter([looked.first])
    for _ in range(cases):
        for case in new:
            found = Elimination(list(case.own), list(zip(near.parts.joined, case.pairs, strict=True)))
            if (choices := found.choices()) is not None:
                number += 1
                heappush(heap, (found.least, number, case.at(choices)))
        if not heap:
            return None
        _, _, case = heappop(heap)
        rows = looked.rows(case.choices)
        lacking = pricing.stock.lacking(left, rows, near.amounts)
        if not len(lacking):
            return looked.spot(case.choices, rows)
        new = looked.cases(case, int(lacking[0]))
    return None


@dataclass(frozen=True, eq=False)
class _Case:
    """Costs (n_free, n_places) and (n_inner, n_places, n_places), and (n_free,) the best choices."""

    own: FloatArray
    pairs: FloatArray
    choices: IntArray

    def at(self, choices: IntArray) -> _Case:
        return _Case(self.own, self.pairs, choices)

    def without(self, k: int, using: BoolArray) -> _Case:
        """Return the case in which a block is not at some of its places."""
        own = self.own.copy()
        own[k, using] = np.inf
        return _Case(own, self.pairs, self.choices)

    def apart(self, edge: int, using: BoolArray) -> _Case:
        """Return the case in which the ends of an inner flow are not at some of their places."""
        pairs = self.pairs.copy()
        pairs[edge, using] = np.inf
        return _Case(self.own, pairs, self.choices)


class _LookedAt:
    """Some of the places that are near: those with which the graph costs least in what is left."""

    def __init__(self, pricing: Pricing, near: Near, left: FloatArray, extra: FloatArray | None) -> None:
        self._pricing, self._near = pricing, near
        own = near.priced.copy() if extra is None else near.priced + extra
        own[(left[near.capacity_rows] < near.demand).any(axis=-1)] = np.inf
        least = least_in(near.parts, own, near.pairs)
        if least.shape[1] > PLACES:
            at = np.argpartition(least, PLACES, axis=1)[:, :PLACES]
        else:
            at = np.tile(np.arange(least.shape[1]), (len(least), 1))
        self._at: IntArray = at
        self._blocks = np.arange(len(at))
        self._edges = np.arange(len(near.parts.inner))
        self._i, self._j = near.parts.inner[:, 1], near.parts.inner[:, 2]
        pairs = near.pairs[self._edges[:, None, None], at[self._i][:, :, None], at[self._j][:, None, :]]
        self.first = _Case(own[self._blocks[:, None], at], pairs, self._blocks)
        self._inner_rows: RowArray | None = None

    def rows(self, choices: IntArray) -> IntArray:
        """Return (n_uses,) the rows of places (n_free,), in the order of amounts."""
        near, stock = self._near, self._pricing.stock
        at = self._at[self._blocks, choices]
        nodes = near.nodes[self._blocks, at]
        ends = near.parts.outer[:, 1]
        outer = near.outer_rows[:, np.arange(len(ends)), at[ends]]
        inner = stock.route[:, nodes[self._i], nodes[self._j]]
        return np.concatenate([near.capacity_rows[self._blocks, at].ravel(), outer.ravel(), inner.ravel()])

    def spot(self, choices: IntArray, rows: IntArray) -> Spot:
        """Return the spot with places (n_free,) that use rows (n_uses,)."""
        near, form = self._near, self._pricing.form
        at = self._at[self._blocks, choices]
        nodes = near.nodes[self._blocks, at]
        used = (near.amounts > 0) & (rows < self._pricing.stock.n_rows)
        ways = form.weight[near.parts.inner[:, 0]] * form.distance[nodes[self._i], nodes[self._j]]
        along = near.pairs[self._edges, at[self._i], at[self._j]]
        return Spot(
            nodes,
            rows[used],
            near.amounts[used],
            cost=float(near.own[self._blocks, at].sum() + ways.sum()),
            priced=float(near.priced[self._blocks, at].sum() + along.sum()),
        )

    def cases(self, case: _Case, row: int) -> Iterator[_Case]:
        """Yield a case for each block or flow that uses a row, in which it does not use that row."""
        near, choices = self._near, case.choices
        if row < self._pricing.form.capacity.size:
            rows = near.capacity_rows[self._blocks[:, None], self._at]
            using = ((rows == row) & (near.demand > 0)).any(axis=-1)
            for k, choice in enumerate(choices.tolist()):
                if using[k, choice]:
                    yield case.without(k, using[k])
            return
        for e, (flow, k, _) in enumerate(near.parts.outer.tolist()):
            using = (near.outer_rows[:, e, self._at[k]] == row).any(axis=0)
            if using[choices[k]] and self._pricing.form.flow[flow] > 0:
                yield case.without(k, using)
        if self._inner_rows is None:
            nodes = near.nodes[self._blocks[:, None], self._at]
            route = self._pricing.stock.route
            self._inner_rows = route[:, nodes[self._i][:, :, None], nodes[self._j][:, None, :]]
        together = (self._inner_rows == row).any(axis=0)
        for e, (flow, i, j) in enumerate(near.parts.inner.tolist()):
            if together[e, choices[i], choices[j]] and self._pricing.form.flow[flow] > 0:
                yield case.apart(e, together[e])
