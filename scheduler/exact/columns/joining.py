"""The best choice of one column per graph that the nodes hold together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import require_time
from scheduler.chains.chain_search import cheapest_of_equals
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.columns.graph_columns import Columns

AT_ONCE = 1_000_000
"""Pairs that are looked at in one step."""
MOST_CHEAP = 20_000_000
"""Pairs below the limit that are looked at; of more there is no answer."""
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
class Shared:
    """What columns share.

    Attributes:
        capacity: (n_nodes, n_resources).
        charges: (n_nodes,) what a node in use adds to F.
        unpaid: (n_nodes,) what a node in use costs beside the prices that columns pay (>= 0).
    """

    capacity: FloatArray
    charges: FloatArray
    unpaid: FloatArray


@dataclass(frozen=True, eq=False)
class _Choices:
    """Choices of columns of some graphs.

    Attributes:
        which: (k, n_graphs so far) columns.
        priced: (k,) sum over the columns, like `cost`.
        cost: See there.
        load: (k, n_nodes, n_resources).
        used: (k, n_nodes) nodes with members.
    """

    which: IntArray
    priced: FloatArray
    cost: FloatArray
    load: FloatArray
    used: BoolArray

    def chosen(self, which: IntArray | BoolArray) -> _Choices:
        return _Choices(
            self.which[which], self.priced[which], self.cost[which], self.load[which], self.used[which]
        )

    def cheapest(self) -> _Choices:
        """Return the cheapest of those that leave the others the same."""
        # floats are compared by their bits: sums that differ by rounding both stay
        left = self.load.reshape(len(self.cost), math.prod(self.load.shape[1:])).view(np.int64)
        return self.chosen(cheapest_of_equals(np.hstack([left, self.used]), self.cost))


def join(columns: Sequence[Columns], shared: Shared, limit: float, deadline: Deadline) -> Joined | None:
    """Return the cheapest choice of one column per graph that keeps the capacities.

    Args:
        columns: Of each graph; none is empty.
        shared: What they share.
        limit: Sum of costs under prices, of columns and of nodes in use, that a choice may have.
        deadline: When to stop.

    Returns:
        The choice; None if there are too many to look at.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    listed = [
        _Choices(np.arange(len(one.cost))[:, None], one.priced, one.cost, one.load, one.used).cheapest()
        for one in columns
    ]
    order = sorted(range(len(listed)), key=lambda k: len(listed[k].cost))
    rest = sum(float(one.priced.min()) for one in listed)
    made = listed[order[0]]
    rest -= float(made.priced.min())
    for k in order[1:]:
        rest -= float(listed[k].priced.min())
        pairs = _pairs(made, listed[k], shared, limit - rest, deadline)
        if pairs is None:
            return None
        made = pairs
    if not len(made.cost):
        return Joined(None, math.inf)
    total = made.cost + made.used @ shared.charges
    best = int(total.argmin())
    which = made.which[best][np.argsort(order)]
    return Joined(tuple(which.tolist()), float(total[best]))


def _pairs(
    first: _Choices, second: _Choices, shared: Shared, limit: float, deadline: Deadline
) -> _Choices | None:
    """Return the pairs that keep the capacities and the limit; None if there are too many."""
    second = second.chosen(np.argsort(second.priced, kind="stable"))
    # how many of the second are cheap enough for each of the first: these pairs are few of all
    ends = np.searchsorted(second.priced, limit - first.priced, side="right")
    if ends.sum() > MOST_CHEAP:
        return None
    made = [_pair(first, second, np.zeros(0, np.int64), np.zeros(0, np.int64))]
    kept = 0
    for begin, end in _blocks(ends):
        require_time(deadline)
        i = np.repeat(np.arange(begin, end), ends[begin:end])
        before = np.cumsum(ends[begin:end]) - ends[begin:end]
        j = np.arange(len(i)) - np.repeat(before, ends[begin:end])
        pairs = _pair(first, second, *_fitting(first, second, i, j, shared.capacity))
        good = pairs.priced + pairs.used @ shared.unpaid <= limit
        made.append(pairs.chosen(good).cheapest())
        kept += len(made[-1].cost)
        if kept > MOST_PAIRS:
            return None
    return _Choices(
        *(np.concatenate([getattr(one, each) for one in made]) for each in vars(made[0]))
    ).cheapest()


def _blocks(counts: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that have about `AT_ONCE` pairs together, given how many each row has."""
    total = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + AT_ONCE, side="right")))
        yield begin, end
        begin = end


def _fitting(
    first: _Choices, second: _Choices, i: IntArray, j: IntArray, capacity: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the pairs that keep the capacities; node by node, as most pairs fail on one of the first."""
    for u, r in np.ndindex(capacity.shape):
        one, other = first.load[:, u, r].copy(), second.load[:, u, r].copy()
        if one.max(initial=0.0) + other.max(initial=0.0) <= capacity[u, r] + TOLERANCE:
            continue
        good = one[i] + other[j] <= capacity[u, r] + TOLERANCE
        i, j = i[good], j[good]
    return i, j


def _pair(first: _Choices, second: _Choices, i: IntArray, j: IntArray) -> _Choices:
    return _Choices(
        np.hstack([first.which[i], second.which[j]]),
        first.priced[i] + second.priced[j],
        first.cost[i] + second.cost[j],
        first.load[i] + second.load[j],
        first.used[i] | second.used[j],
    )
