"""Exact search for chains: partial paths position by position, cut by completion bounds and dominance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.chains.chain import Completion, CountArray

BATCH = 20_000
"""Partial paths that are extended in one numpy step."""


@dataclass(frozen=True, eq=False)
class ChainAnswer:
    """What a search found.

    Attributes:
        nodes: (k,) the cheapest path below the target, or None if there is none among those looked at.
        complete: Whether all paths below the target were looked at.
    """

    nodes: IntArray | None
    complete: bool


@dataclass(frozen=True, eq=False)
class _Partial:
    """Partial paths that end at one position.

    Attributes:
        parent: (k,) index among those one position before.
        node: (k,) where they end.
        cost: (k,) multipliers of slots included.
        bound: (k,) lower bound of all their completions.
    """

    parent: IntArray
    node: IntArray
    cost: FloatArray
    bound: FloatArray

    def chosen(self, which: IntArray | BoolArray) -> _Partial:
        return _Partial(self.parent[which], self.node[which], self.cost[which], self.bound[which])


def search_chain(completion: Completion, target: float, width: int, work: Work) -> ChainAnswer:
    """Return a cheapest path below a target, by breadth-first search over positions.

    Of two partial paths that end on the same node and have taken the same slots, the cheaper one goes on.

    Args:
        completion: Bounds of what follows.
        target: Paths that do not cost less are of no use.
        width: Partial paths kept per position: those with the lowest bounds, if there are more.
        work: When to stop without an answer.
    """
    chain = completion.chain
    k, n = chain.unary.shape
    limit = target - completion.constant
    start = np.flatnonzero(completion.start < limit)
    live = _Partial(np.full(len(start), -1), start, completion.unary[0][start], completion.start[start])
    counts = np.zeros((len(start), n), dtype=np.int16)
    layers = [live]
    complete = True
    counts[np.arange(len(start)), start] += chain.shares[0]
    for i in range(1, k):
        work.add(len(live.node) * n)
        if work.over():
            return ChainAnswer(None, complete=False)
        batches = np.array_split(np.arange(len(live.node)), len(live.node) // BATCH + 1)
        parts = [_extended(completion, i, live.chosen(each), counts[each], limit) for each in batches]
        firsts = np.cumsum([0, *(len(each) for each in batches[:-1])])
        live = _Partial(
            np.concatenate([part.parent + first for part, first in zip(parts, firsts, strict=True)]),
            np.concatenate([part.node for part in parts]),
            np.concatenate([part.cost for part in parts]),
            np.concatenate([part.bound for part in parts]),
        )
        live, counts = _undominated(live, counts, bool(chain.shares[i]))
        if len(live.node) > width:
            best = np.argpartition(live.bound, width)[:width]
            live, counts, complete = live.chosen(best), counts[best], False
        layers.append(live)
    if len(live.node) == 0:
        return ChainAnswer(None, complete)
    # multipliers were paid for the slots taken, and credited for all: what stays free is no gain
    free = (chain.slots - counts) @ completion.multipliers
    nodes = np.empty(k, dtype=np.int64)
    at = int((live.cost + free).argmin())
    for i in range(k - 1, -1, -1):
        nodes[i] = layers[i].node[at]
        at = int(layers[i].parent[at])
    return ChainAnswer(nodes, complete)


def _extended(completion: Completion, i: int, batch: _Partial, counts: CountArray, limit: float) -> _Partial:
    """Return the extensions of a batch of partial paths to position i that may stay below the limit.

    Their parents are numbered within the batch.
    """
    chain, memory = completion.chain, completion.memory
    state = memory.of(batch.node, counts)
    cost = batch.cost[:, None] + chain.pairs[i - 1, batch.node] + completion.unary[i]
    bound = cost + completion.to_go[i][completion.steps(i)[batch.node, state]]
    kept = bound < limit
    if chain.shares[i]:
        kept &= counts < chain.slots
    parent, to = np.nonzero(kept)
    return _Partial(parent, to, cost[kept], bound[kept])


def _undominated(live: _Partial, counts: CountArray, shares: bool) -> tuple[_Partial, CountArray]:
    """Return the cheapest of those that end alike, and their counts, in which the last step is entered."""
    counts = counts[live.parent]
    counts[np.arange(len(live.node)), live.node] += shares
    best = cheapest_of_equals(np.hstack([live.node[:, None].astype(np.int16), counts]), live.cost)
    return live.chosen(best), counts[best]


def cheapest_of_equals(rows: np.ndarray[tuple[int, int], np.dtype[Any]], cost: FloatArray) -> IntArray:
    """Return the indices of rows such that every row equals a returned one that costs no more.

    Rows are brought together by a hash and compared in full: rows that differ are never taken for equal. Two
    rows of equal hash may hide that equal ones are not neighbours; then both stay, which does no harm.

    Args:
        rows: (k, width) whole numbers.
        cost: (k,).
    """
    weights = np.random.default_rng(0).integers(1, 2**62, rows.shape[1], dtype=np.uint64)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for column, weight in enumerate(weights):
        hashes += rows[:, column].astype(np.uint64) * weight
    order = np.lexsort((cost, hashes))
    first = np.ones(len(rows), dtype=np.bool_)
    alike = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    first[alike + 1] = (rows[order[alike + 1]] != rows[order[alike]]).any(axis=1)
    return np.sort(order[first])
