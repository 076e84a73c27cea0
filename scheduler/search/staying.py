"""Taking moves back that gain nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem


def fewest_moves(problem: Problem, placement: IntArray, deadline: Deadline) -> IntArray:
    """Return a placement of the same F in which operators stay where they can.

    The whole current placement comes first, then single operators that go back, until none can.

    Complexity: O(n_ops x (n_ops + n_streams)) per operator that goes back.
    """
    current = problem.current
    if current is None:
        return placement
    most = evaluate(problem, placement).objective + OBJECTIVE_STEP
    if not check(problem, current) and evaluate(problem, current).objective <= most:
        return current
    evaluator, constraints = BatchEvaluator(problem), BatchConstraints(problem)
    # a pin may leave an operator nowhere but elsewhere
    may_stay = (current >= 0) & problem.allowed[np.arange(problem.n_ops), np.maximum(current, 0)]
    while not deadline.expired():
        away = np.flatnonzero(may_stay & (placement != current))
        if not away.size:
            break
        back = np.repeat(placement[:, None], away.size, axis=1)
        back[away, np.arange(away.size)] = current[away]
        equal = np.flatnonzero((evaluator(back)[0] <= most) & constraints.met(back))
        if not equal.size:
            break
        placement = back[:, equal[0]].copy()
    return placement
