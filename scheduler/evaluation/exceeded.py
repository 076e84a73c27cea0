"""Which operators take longer per tuple than their limits, where limits are soft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.duration import durations_ms
from scheduler.model.metrics.duration_excess import DURATION_EXCESS

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Exceeded:
    """An operator that takes longer than its limit.

    Attributes:
        operator: Its name.
        node: Name of its node.
        duration_ms: Time per tuple there, waiting included; infinite where it cannot keep up.
        limit_ms: The limit.
    """

    operator: str
    node: str
    duration_ms: float
    limit_ms: float


def exceeded(problem: Problem, placement: IntArray) -> tuple[Exceeded, ...]:
    """Return the operators that take longer than their limits in a placement, in their order.

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    over = problem.terms.places[DURATION_EXCESS.name]
    if over.ndim == 1:  # no limit works
        return ()
    application, network = problem.application, problem.network
    taken = durations_ms(application, network.speedup, problem.objective.duration_model)
    late = np.flatnonzero(over[np.arange(problem.n_ops), placement])
    return tuple(
        Exceeded(
            application.operators[i].name,
            network.nodes[placement[i]].name,
            float(taken[i, placement[i]]),
            application.operators[i].duration_max_ms,
        )
        for i in late.tolist()
    )
