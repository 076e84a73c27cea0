"""The noise of a gain: how much it varies over problems that could be the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.critical_path import longest_path
from scheduler.evaluation.evaluate import metric_sums
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.moving.reading_errors import ReadingErrors, drawn
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
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
        before, after = (_objective(problem, possible, end) for end in ends)
        gains.append(before - after)
    return float(np.std(gains, ddof=1))


def _objective(problem: Problem, possible: Problem, placement: IntArray) -> float:
    """Return F of a placement in one problem, on the scale of another."""
    response_ms, _ = longest_path(possible, placement)
    raw = {name: float(total) for name, total in metric_sums(possible, placement).raw.items()}
    return problem.scale.objective({RESPONSE_TIME.name: response_ms, **raw})
