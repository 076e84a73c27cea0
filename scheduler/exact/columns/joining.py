"""The best choice of one column per graph that the nodes hold together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import require_time
from scheduler.chains.chain_search import cheapest_of_equals
from scheduler.model.capacity import fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.columns.graph_columns import Columns

AT_ONCE = 2_000_000
"""Pairs whose bounds are looked at in one step."""
MOST_PAIRS = 400_000
"""Pairs that are kept; of more there is no answer."""


@dataclass(frozen=True, eq=False)
class Joined:
    """The best choice.

    Attributes:
        which: The column of each graph, None if no choice is below the limit.
        cost: What they and the nodes that they use add to F; infinite if there is none.
    """

    which: tuple[int, ...] | None
    cost: float


@dataclass(frozen=True, eq=False)
class _Choices:
    """Choices of columns of the first graphs.

    Attributes:
        which: (k, n_graphs so far).
        priced: (k,) sum over the columns, like `cost`.
        load: (k, n_nodes, n_resources).
        used: (k, n_nodes).
    """

    which: IntArray
    priced: FloatArray
    cost: FloatArray
    load: FloatArray
    used: BoolArray

    def chosen(self, which: IntArray | BoolArray) -> _Choices:
        return _Choices(*(each[which] for each in vars(self).values()))

    def cheapest(self) -> _Choices:
        """Return the cheapest of those that leave the others the same."""
        count = len(self.cost)
        # floats are compared by their bits: sums that differ by rounding both stay
        left = self.load.reshape(count, math.prod(self.load.shape[1:])).view(np.int64)
        return self.chosen(cheapest_of_equals(np.hstack([left, self.used]), self.cost))


def join(
    columns: Sequence[Columns], capacity: FloatArray, charges: FloatArray, prices: FloatArray,
    limit: float, deadline: Deadline,
) -> Joined | None:
    """Return the cheapest choice that keeps the capacities.

    Args:
        columns: Of each graph; none is empty.
        capacity: (n_nodes, n_resources).
        charges: (n_nodes,) what a node in use adds to F.
        prices: (n_nodes,) what a node in use costs beside the prices that columns pay (>= 0).
        limit: Sum of costs under prices, of columns and of nodes in use, that a choice may have.
        deadline: When to stop.

    Returns:
        The choice; None if there are too many to look at.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    listed = [_of(each) for each in columns]
    order = sorted(range(len(listed)), key=lambda k: len(listed[k].cost))
    rest = sum(float(each.priced.min()) for each in listed)
    made: _Choices | None = None
    for k in order:
        rest -= float(listed[k].priced.min())
        made = listed[k] if made is None else _pairs(made, listed[k], capacity, prices, limit - rest, deadline)
        if made is None:
            return None
        if not len(made.cost):
            return Joined(None, math.inf)
    assert made is not None  # there is a graph
    total = made.cost + made.used @ charges
    best = int(total.argmin())
    which = [0] * len(order)
    for k, column in zip(order, made.which[best].tolist(), strict=True):
        which[k] = column
    return Joined(tuple(which), float(total[best]))


def _of(columns: Columns) -> _Choices:
    which = np.arange(len(columns.cost))[:, None]
    return _Choices(which, columns.priced, columns.cost, columns.load, columns.used).cheapest()


def _pairs(
    first: _Choices, second: _Choices, capacity: FloatArray, prices: FloatArray, limit: float, deadline: Deadline
) -> _Choices | None:
    """Return the pairs that keep the capacities and the limit; None if there are too many."""
    second = second.chosen(np.argsort(second.priced, kind="stable"))
    made: list[_Choices] = []
    kept = 0
    rows = max(1, AT_ONCE // len(second.cost))
    for begin in range(0, len(first.cost), rows):
        require_time(deadline)
        part = first.chosen(np.arange(begin, min(begin + rows, len(first.cost))))
        a, b = np.nonzero(part.priced[:, None] + second.priced <= limit)
        for at in range(0, len(a), MOST_PAIRS):
            i, j = a[at : at + MOST_PAIRS], b[at : at + MOST_PAIRS]
            load = part.load[i] + second.load[j]
            used = part.used[i] | second.used[j]
            priced = part.priced[i] + second.priced[j]
            good = fits(load, capacity).all(axis=1) & (priced + used @ prices <= limit)
            i, j = i[good], j[good]
            which = np.hstack([part.which[i], second.which[j]])
            cost = part.cost[i] + second.cost[j]
            made.append(_Choices(which, priced[good], cost, load[good], used[good]).cheapest())
            kept += len(made[-1].cost)
            if kept > MOST_PAIRS:
                return None
    return _Choices(*(np.concatenate(each) for each in zip(*(vars(one).values() for one in made)))).cheapest()
