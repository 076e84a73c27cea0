"""Placing runs of operators anew by beam search, while everything else stays (destroy and repair)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import Work
from scheduler.chains.chain import Chain, Memory, raise_multipliers
from scheduler.chains.chain_search import search_chain
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.evaluation.linear_form import linear_form
from scheduler.model.capacity import most_members, remaining
from scheduler.model.problem import UNPLACED, Problem

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline

SHORTEST_RUN = 4
"""Operators of a run that is worth it: random moves find what there is to shorter ones."""
SHORTEST_PART, LONGEST_PART = 10, 24
"""Operators that are placed anew at a time, if the run is as long."""
MOST_NODES = 100
"""Candidate nodes of a part: the nearest to those that it and its neighbours use."""
CLOSED = 0.15
"""Chance that a candidate node is left out of a narrowed search."""
WIDTH = 500
"""Partial paths that the beam keeps per position."""
MULTIPLIER_STEPS = 15
"""Steps in which the multipliers of slots are found."""
CELLS = 1_000_000
"""States of memory times pairs of nodes up to which more than the present node is remembered."""


@dataclass(frozen=True, eq=False)
class Run:
    """Operators that can move, each with streams from the one before and to the one after it only.

    Attributes:
        operators: (k,) in the direction of the streams.
        before, after: The operator that the first one has streams from, the last one streams to, if any.
    """

    operators: IntArray
    before: int | None
    after: int | None


def runs_of(problem: Problem) -> list[Run]:
    """Return the runs of at least `SHORTEST_RUN` operators."""
    before: list[set[int]] = [set() for _ in range(problem.n_ops)]
    after: list[set[int]] = [set() for _ in range(problem.n_ops)]
    for source, target in problem.application.edges():
        if source != target:
            after[source].add(target)
            before[target].add(source)
    inner = [
        bool(problem.movable[i]) and max(len(before[i]), len(after[i])) <= 1 for i in range(problem.n_ops)
    ]
    runs = []
    for first in range(problem.n_ops):
        if not inner[first] or any(inner[i] for i in before[first]):
            continue
        run = [first]
        while after[run[-1]] and inner[(following := min(after[run[-1]]))]:
            run.append(following)
        if len(run) >= SHORTEST_RUN:
            ends = (min(before[first], default=None), min(after[run[-1]], default=None))
            runs.append(Run(np.array(run, dtype=np.int64), *ends))
    return runs


class Rebuild:
    """Places parts of runs anew, by cost along the part; only a full evaluation says whether F is lower.

    A part with what it is fixed to is a chain, for which bounds of what follows are known
    (`scheduler.chains.chain`): the beam keeps the partial paths with the lowest ones. R counts along the part
    if a critical path goes through it, and not at all otherwise. Operators of a part that ask for different
    amounts are treated as if each asked for the most.
    """

    def __init__(self, problem: Problem, near: IntArray, random: np.random.Generator) -> None:
        """Look for runs; `near` are the candidate lists of the nodes, (n_nodes, k)."""
        self._problem, self._near, self._random = problem, near, random
        self._form = linear_form(problem)
        self.runs = runs_of(problem)
        self._streams: dict[tuple[int, int], list[int]] = {}
        for stream, pair in enumerate(problem.application.edges()):
            self._streams.setdefault(pair, []).append(stream)

    def rebuilt(self, placement: IntArray, deadline: Deadline, *, narrowed: bool) -> IntArray:
        """Return the placement with a cheaper part, or as it was.

        Bounds that remember the present node only come first and drop places; then more is remembered.

        Args:
            placement: (n_ops,) feasible.
            deadline: When to give up.
            narrowed: Whether to free a shorter part or to close a few nodes, by chance, so that the beam
                takes another way than before.

        Complexity: O(k n^2 s) for the bounds and O(k n w) for the beam, with k operators of the part, n
            candidate nodes, s states of what is remembered on a node, and w = `WIDTH`.
        """
        shorter = narrowed and bool(self._random.random() < 0.5)
        part = self._part(
            int(self._random.integers(SHORTEST_PART, LONGEST_PART)) if shorter else LONGEST_PART
        )
        operators, nodes, chain = self._chain(placement, part)
        position = np.searchsorted(nodes, placement[operators])
        target = _cost(chain, position) - OBJECTIVE_STEP
        if narrowed and not shorter:
            closed = self._random.random(len(nodes)) < CLOSED
            chain = replace(chain, open=chain.open & ~(closed & chain.shares[:, None]))
        work = Work(deadline, math.inf)
        multipliers = np.zeros(len(nodes))
        for size, width in ((1, WIDTH // 2), (2, WIDTH)):
            where = np.flatnonzero(chain.open.any(axis=0))
            if not chain.open.any(axis=1).all():
                break
            chain = chain.restricted(where, chain.open[:, where])
            nodes, multipliers = nodes[where], multipliers[where]
            memory = Memory.within(chain, size, CELLS)
            completion = raise_multipliers(
                chain, memory, multipliers, target, iterations=MULTIPLIER_STEPS, work=work
            )
            multipliers = completion.multipliers
            answer = search_chain(completion, target, width, work)
            # multipliers hide what a path costs until its end, so the best one found may be too dear
            if answer.nodes is not None and (cost := _cost(chain, answer.nodes)) < target:
                changed = placement.copy()
                changed[operators] = nodes[answer.nodes]
                if self._problem.rules.met(changed[:, None])[0]:
                    placement, target = changed, cost - OBJECTIVE_STEP
            if answer.complete or work.over():
                break
            chain = replace(chain, open=completion.marginals() < target)
        return placement

    def _part(self, longest: int) -> Run:
        """Return a random part of a random run, of so many operators at most."""
        run = self.runs[int(self._random.integers(len(self.runs)))]
        k = len(run.operators)
        first = int(self._random.integers(max(k - longest, 0) + 1))
        last = min(first + longest, k)
        return Run(
            run.operators[first:last],
            int(run.operators[first - 1]) if first else run.before,
            int(run.operators[last]) if last < k else run.after,
        )

    def _chain(self, placement: IntArray, part: Run) -> tuple[IntArray, IntArray, Chain]:
        """Return the part with what it is fixed to, candidate nodes, ascending, and the chain on them."""
        problem, form = self._problem, self._form
        ends = [[] if end is None else [end] for end in (part.before, part.after)]
        operators = np.array([*ends[0], *part.operators.tolist(), *ends[1]], dtype=np.int64)
        used = placement[operators]
        listed, first = np.unique(np.concatenate([used, self._near[used].T.ravel()]), return_index=True)
        nodes = np.sort(listed[np.argsort(first)][: max(MOST_NODES, len(np.unique(used)))])
        emptied = placement.copy()
        emptied[part.operators] = UNPLACED
        asked = problem.demand[part.operators].max(axis=0)
        room = most_members(asked, remaining(problem, emptied)[nodes])
        slots = np.minimum(room, len(part.operators)).astype(np.int64)
        shares = np.isin(operators, part.operators)
        at = nodes == used[:, None]
        places = np.where(shares[:, None], problem.allowed[operators[:, None], nodes] & (slots > 0), at)
        path = set(evaluate(problem, placement).critical_path)
        factor = form.path_factor if int(part.operators[0]) in path else 0.0
        unary = (
            form.unary[operators[:, None], nodes] + factor * problem.execution_ms[operators[:, None], nodes]
        )
        pairs = np.zeros((len(operators) - 1, len(nodes), len(nodes)))
        critical = problem.application.critical
        for i, pair in enumerate(zip(operators[:-1].tolist(), operators[1:].tolist(), strict=True)):
            streams = self._streams[pair]
            if critical[streams].any():
                pairs[i] += factor * problem.network.delay_ms[nodes[:, None], nodes]
            for term in form.pairs:
                pairs[i] += term.weight[streams].sum() * term.table.block(nodes, nodes)
        return operators, nodes, Chain(0.0, unary, pairs, places, shares, slots)


def _cost(chain: Chain, nodes: IntArray) -> float:
    """Return what a path (k,) costs."""
    position = np.arange(len(nodes))
    along: FloatArray = chain.pairs[position[:-1], nodes[:-1], nodes[1:]]
    return float(chain.unary[position, nodes].sum() + along.sum())
