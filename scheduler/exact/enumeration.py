"""Small problems by looking at every placement: exact, and so fast that nothing else pays."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.model.current import moves_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

_BLOCK = 1 << 14
"""Placements that one step looks at."""


def n_placements(problem: Problem) -> float:
    """Return how many placements there are on allowed nodes."""
    return math.prod(float(each) for each in problem.node_sets.choices)


def n_within_moves(problem: Problem, most: int) -> float:
    """Return about how many placements can be reached by so many moves; none without a complete start."""
    if problem.current is None or (problem.current < 0).any():
        return math.inf
    return sum(math.comb(problem.n_ops, k) * float(problem.n_nodes) ** k for k in range(most + 1))


def best_of_all(problem: Problem, deadline: Deadline) -> tuple[IntArray | None, bool]:
    """Return the best placement, and whether all were looked at before the deadline.

    Of placements whose F differs by less than `OBJECTIVE_STEP` the one with the fewest moves counts, then the
    one with the smallest nodes, operator by operator.

    Complexity: O((n_ops + n_streams) x `n_placements`).
    """
    return _best(problem, _blocks([np.flatnonzero(row) for row in problem.allowed]), deadline)


def best_within_moves(problem: Problem, most: int, deadline: Deadline) -> tuple[IntArray | None, bool]:
    """Return the same among the placements that differ from the current one in so many operators at most.

    Args:
        problem: The problem; its current placement is complete.
        most: Operators.
        deadline: When to stop.
    """
    return _best(problem, _reachable(problem, most), deadline)


def _reachable(problem: Problem, most: int) -> Iterator[IntArray]:
    current = problem.current
    if current is None:
        return
    here = [np.array([u]) for u in current.tolist()]
    others = [row[row != u] for row, u in zip(map(np.flatnonzero, problem.allowed), current, strict=True)]
    for count in range(most + 1):
        for movers in combinations(range(problem.n_ops), count):
            yield from _blocks([others[i] if i in movers else here[i] for i in range(problem.n_ops)])


def _blocks(nodes: Sequence[IntArray]) -> Iterator[IntArray]:
    """Yield the placements with one of some nodes for each operator, (n_ops, k), in lexicographic order."""
    total = math.prod(len(each) for each in nodes)
    for first in range(0, total, _BLOCK):
        number = np.arange(first, min(first + _BLOCK, total))
        rows = []
        for choice in reversed(nodes):
            number, digit = np.divmod(number, len(choice))
            rows.append(choice[digit])
        yield np.array(rows[::-1])


def _best(problem: Problem, blocks: Iterable[IntArray], deadline: Deadline) -> tuple[IntArray | None, bool]:
    evaluator, constraints, moves_by = BatchEvaluator(problem), BatchConstraints(problem), moves_to(problem)
    operators = np.arange(problem.n_ops)[:, None]
    best: IntArray | None = None
    key = (math.inf, math.inf, ())
    least = math.inf
    for looked_at, every in enumerate(blocks):
        if looked_at and deadline.expired():
            return best, False
        placements = every[:, constraints.met(every)]
        if not placements.size:
            continue
        objective = evaluator(placements)[0]
        # what is equal is measured at the least of all, or equals of equals would drift away
        least = min(least, float(objective.min()))
        if key[0] > least + OBJECTIVE_STEP:
            best, key = None, (math.inf, math.inf, ())
        equal = np.flatnonzero(objective <= least + OBJECTIVE_STEP)
        moves = moves_by[operators, placements[:, equal]].sum(axis=0)
        for k in equal[np.argsort(moves, kind="stable")[:1]].tolist():
            found = (float(objective[k]), int(moves.min()), tuple(placements[:, k].tolist()))
            if best is None or found[1:] < key[1:]:
                best, key = placements[:, k].copy(), found
    return best, True
