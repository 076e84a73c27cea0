"""The noise of a gain: how much it varies over problems that could be the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import evaluate
from scheduler.model.metrics.catalogue import METRICS
from scheduler.moving.reading_errors import ReadingErrors, drawn
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


def gain_noise(
    problem: Problem,
    current: IntArray,
    placement: IntArray,
    errors: ReadingErrors,
    *,
    draws: int = 64,
    seed: int = 0,
) -> float:
    """Return the standard deviation of what F gains by going from one placement to another.

    Both are evaluated in each problem that is drawn, so that what is alike for both makes no noise.

    Args:
        problem: As it was read; F is measured on its scale.
        current: (n_ops,) where the operators run.
        placement: (n_ops,) where they would run.
        errors: Of the readings.
        draws: How many problems are drawn (>= 2).
        seed: Of the draws.

    Raises:
        ModelError: The errors are none of this problem.
    """
    errors.check(problem)
    random = np.random.default_rng(seed)
    # other nodes than those of the two placements change neither of them
    nodes = np.union1d(current, placement)
    part, of_part = restrict(problem, nodes), errors.within(nodes)
    ends = np.searchsorted(nodes, current), np.searchsorted(nodes, placement)
    gains = []
    for _ in range(draws):
        possible = drawn(part, of_part, random)
        before, after = (_objective(problem, evaluate(possible, end)) for end in ends)
        gains.append(before - after)
    return float(np.std(gains, ddof=1))


def _objective(problem: Problem, worth: Evaluation) -> float:
    """Return F on the scale of one problem, whatever problem the values are of."""
    raw = {name: METRICS[name].statement.sum_of(value) for name, value in worth.values.items()}
    return problem.scale.objective(raw)
