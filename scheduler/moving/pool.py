"""The pool of placements that a rolling horizon begins with; it is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.moving.step_worth import StepWorth
    from scheduler.moving.suggesting import Suggestions

_STAGES = 32
"""Placements on the way to another one at which is looked for what to take over next."""


def pool_of(
    start: IntArray,
    worth: StepWorth,
    suggestions: Suggestions,
    most: int,
    deadline: Deadline,
    *,
    also: Sequence[IntArray] = (),
) -> IntArray:
    """Return (n_ops, k <= most) placements, the running one first if it is complete.

    They are the optimum of each distinct step and what else a solver suggests; and what lies on the way to
    each optimum, from the running placement and from the optimum before, when operators go there one after
    the other.

    Complexity: O(n_ops) evaluations per placement on a way.

    Args:
        start: (n_ops,) where operators run now, with marks where they do not.
        worth: What placements are worth in the steps.
        suggestions: Of a solver.
        most: Placements (>= 2).
        deadline: When to look for no more of them.
        also: (n_ops,) further ones.
    """
    running = [start] if (start >= 0).all() else []
    optima = suggestions.optima
    columns = [
        *running,
        *also,
        *(each for each in optima if each is not None),
        *suggestions.around(start),
    ]
    fixed = len(columns)
    before: list[IntArray] = []
    for k, optimum in enumerate(optima):
        if optimum is None or deadline.expired():
            continue
        for begin in (*running, *before):
            columns += _way(worth, k, begin, optimum, deadline)
        before = [optimum]
    return _kept(worth, columns, fixed, most)


def _way(worth: StepWorth, k: int, start: IntArray, end: IntArray, deadline: Deadline) -> Sequence[IntArray]:
    """Return placements between two others, by what it pays most in a problem to take over next."""
    found: list[IntArray] = []
    at = start
    at_once = -(-int((start != end).sum()) // _STAGES)
    while True:
        away = np.flatnonzero(at != end)
        if away.size <= at_once or deadline.expired():
            return found
        options = np.repeat(at[:, None], away.size, axis=1)
        options[away, np.arange(away.size)] = end[away]
        order = np.argsort(worth.of_problem(k, options), kind="stable")
        taken = away[order[:at_once]]
        at = at.copy()
        at[taken] = end[taken]
        found.append(at)


def _kept(worth: StepWorth, columns: Sequence[IntArray], fixed: int, most: int) -> IntArray:
    """Return the first few placements, and of the rest those that are nearest to the best of a problem."""
    keys = list(dict.fromkeys(tuple(each.tolist()) for each in columns))
    count = len({tuple(each.tolist()) for each in columns[:fixed]})
    pool = np.array(keys, dtype=np.int64).reshape(len(keys), worth.problems[0].n_ops).T
    if pool.shape[1] <= most:
        return pool
    behind = np.full(pool.shape[1], np.inf)
    for k in range(len(worth.problems)):
        objective = worth.of_problem(k, pool)
        best = objective.min()
        if np.isfinite(best):
            behind = np.minimum(behind, objective - best)
    behind[:count] = -np.inf
    return pool[:, np.sort(np.argsort(behind, kind="stable")[:most])]
