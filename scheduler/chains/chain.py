"""Chains of operators: bounds by dynamic programming that remembers some of the nodes used.

The memory is that of ng-routes: R. Baldacci, A. Mingozzi, R. Roberti, "New route relaxation and pricing
strategies for the vehicle routing problem", Operations Research 59(5), 2011. There a route remembers which
customers near its end it has visited; here a path remembers how many slots of near nodes it has taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.subgradient import StepRule, ascend

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.work import Work

CountArray = np.ndarray[tuple[int, int], np.dtype[np.int16]]
"""(k, n) slots that paths have taken."""

LARGEST_MEMORY = 256
"""States of memory per node at most."""
STEPS = StepRule(patience=5, least=0.01, from_best=True, least_gap=1e-9)


@dataclass(frozen=True, eq=False)
class Chain:
    """Operators 0..k-1 in a row, each joined with the next one only; all that share slots ask for the same.

    Attributes:
        constant: What belongs to no decision.
        unary: (k, n) what operator i adds on node u.
        pairs: (k - 1, n, n) what operators i on u and i + 1 on v add.
        open: (k, n) where operators may be.
        shares: (k,) whether the operator takes one of the slots; one that is pinned has its own.
        slots: (n,) slots of each node for those that share.
    """

    constant: float
    unary: FloatArray
    pairs: FloatArray
    open: BoolArray
    shares: BoolArray
    slots: IntArray

    def restricted(self, nodes: IntArray, open_places: BoolArray) -> Chain:
        """Return the chain on some nodes, with places (k, len(nodes)) open."""
        return replace(
            self,
            unary=self.unary[:, nodes],
            pairs=self.pairs[:, nodes[:, None], nodes],
            open=open_places,
            slots=self.slots[nodes],
        )


class Memory:
    """What a path remembers on each node: how many slots of a few near nodes it has taken (ng-memory).

    What lies farther off is forgotten, so a shortest path with this memory is a lower bound.

    Attributes:
        near: (n, s) nodes remembered on each node, itself first.
        stride: (n, s) weight of each count in the number of a state.
        states: Number of states per node.
        following: (n, states, n) state on the next node v after taking a slot there, as v * states + state;
            n * states where v is remembered as full.
        passing: The same without taking a slot.
    """

    def __init__(self, chain: Chain, size: int) -> None:
        n = len(chain.slots)
        limit = np.minimum(chain.slots, int(chain.shares.sum()))
        apart = (chain.pairs + chain.pairs.transpose(0, 2, 1)).sum(axis=0)
        np.fill_diagonal(apart, -np.inf)
        size = min(size, n)
        self.near = np.argsort(apart, axis=1, kind="stable")[:, :size]
        base = limit[self.near] + 1
        self.stride = np.cumprod(np.hstack([np.ones((n, 1), dtype=np.int64), base[:, :-1]]), axis=1)
        self.stride[self.stride * base > LARGEST_MEMORY] = 0  # such a node is not remembered
        kept = self.stride > 0
        self.states = int((self.stride * base)[kept].max(initial=1))
        numbers = np.arange(self.states)
        self.following = np.empty((n, self.states, n), dtype=np.int64)
        self.passing = np.empty((n, self.states, n), dtype=np.int64)
        nodes = np.arange(n)
        for u in range(n):
            counts = np.zeros((self.states, n), dtype=np.int64)
            held = np.flatnonzero(kept[u])
            counts[:, self.near[u, held]] = (numbers[:, None] // self.stride[u, held]) % base[u, held]
            carried = (counts[:, self.near] * self.stride).sum(axis=2)
            self.passing[u] = nodes * self.states + carried
            full = counts >= limit
            self.following[u] = np.where(full, n * self.states, self.passing[u] + self.stride[:, 0])

    @staticmethod
    def within(chain: Chain, size: int, cells: float) -> Memory:
        """Return a memory of `size` nodes, or of one if its states times pairs of nodes exceed `cells`."""
        states = float(chain.slots.max(initial=0) + 1) ** size
        return Memory(chain, size if states * len(chain.slots) ** 2 <= cells else 1)

    def of(self, nodes: IntArray, counts: CountArray) -> IntArray:
        """Return (k,) the state of paths that are on nodes (k,) and have taken counts (k, n)."""
        known = np.take_along_axis(counts, self.near[nodes], axis=1)
        state: IntArray = (known * self.stride[nodes]).sum(axis=1)
        return state


class Completion:
    """Least cost to go from every position, node and state of memory, with multipliers of slots.

    Attributes:
        to_go: (k, n * states + 1) least cost of all that follows; the last entry is infinite.
        bound: Lower bound of the whole.
    """

    def __init__(self, chain: Chain, memory: Memory, multipliers: FloatArray) -> None:
        k, n = chain.unary.shape
        self.chain, self.memory, self.multipliers = chain, memory, multipliers
        self.constant = chain.constant - float(multipliers @ chain.slots)
        self.unary = np.where(chain.open, chain.unary + multipliers * chain.shares[:, None], np.inf)
        self.to_go = np.zeros((k, n * memory.states + 1))
        self.to_go[:, -1] = np.inf
        # one array for all positions: it is large, and fresh memory costs as much as the work in it
        ahead = np.empty((n, memory.states, n))
        for i in range(k - 2, -1, -1):
            np.take(self.to_go[i + 1], self.steps(i + 1), out=ahead, mode="clip")
            ahead += (chain.pairs[i] + self.unary[i + 1])[:, None, :]
            self.to_go[i, :-1] = ahead.min(axis=2).ravel()
        self.start = self.unary[0] + self.to_go[0][self._first()]
        self.bound = self.constant + float(self.start.min())

    def steps(self, i: int) -> IntArray:
        """Return the table of states for stepping to position i."""
        return self.memory.following if self.chain.shares[i] else self.memory.passing

    def _first(self) -> IntArray:
        taken = self.memory.stride[:, 0] if self.chain.shares[0] else 0
        return np.arange(len(self.multipliers)) * self.memory.states + taken

    def path(self) -> IntArray:
        """Return (k,) the nodes of a cheapest path; it may take more slots than there are."""
        nodes = np.empty(len(self.unary), dtype=np.int64)
        nodes[0] = self.start.argmin()
        state = int(self._first()[nodes[0]])
        for i in range(1, len(nodes)):
            steps = self.steps(i)[nodes[i - 1], state - nodes[i - 1] * self.memory.states]
            cost = self.chain.pairs[i - 1, nodes[i - 1]] + self.unary[i] + self.to_go[i][steps]
            nodes[i] = cost.argmin()
            state = int(steps[nodes[i]])
        return nodes

    def marginals(self) -> FloatArray:
        """Return (k, n) a lower bound of the whole with each operator on each node."""
        k, n = self.unary.shape
        states = self.memory.states
        spent = np.full(n * states + 1, np.inf)
        spent[self._first()] = self.unary[0]
        found = np.empty((k, n))
        found[0] = self.start
        for i in range(1, k):
            reached = np.full(n * states + 1, np.inf)
            here = spent[:-1].reshape(n, states)
            live = np.isfinite(here)
            u, m = np.nonzero(live)
            cost = here[live][:, None] + self.chain.pairs[i - 1, u] + self.unary[i]
            np.minimum.at(reached, self.steps(i)[u, m].ravel(), cost.ravel())
            reached[-1] = np.inf
            found[i] = (reached + self.to_go[i])[:-1].reshape(n, states).min(axis=1)
            spent = reached
        return self.constant + found


def raise_multipliers(
    chain: Chain, memory: Memory, multipliers: FloatArray, target: float, *, iterations: int, work: Work
) -> Completion:
    """Return the completion with the best multipliers found by subgradient steps from the given ones.

    A completion follows from its multipliers alone, so a search that stalls goes back to the best one.

    Args:
        chain: The chain.
        memory: What paths remember.
        multipliers: (n,) of slots, to begin with.
        target: Cost of a known path.
        iterations: Steps at most.
        work: When to stop.
    """

    def slopes(now: Completion) -> tuple[FloatArray, ...]:
        load = np.bincount(now.path()[chain.shares], minlength=len(multipliers))
        excess = (load - chain.slots).astype(np.float64)
        return (np.where((now.multipliers > 0) | (excess > 0), excess, 0.0),)

    def step(now: Completion, length: float, slope: tuple[FloatArray, ...]) -> Completion:
        work.add(memory.states * chain.unary.size)
        return Completion(chain, memory, np.maximum(now.multipliers + length * slope[0], 0.0))

    start = Completion(chain, memory, multipliers)
    return ascend(start, slopes, step, target=target, rule=STEPS, most=iterations, work=work)
