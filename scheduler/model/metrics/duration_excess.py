"""Excess of durations: what operators take per tuple beyond their limits (paper 001, eq. 18, softened)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.duration import excess_ms
from scheduler.model.metrics.record import AdditiveMetric

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.problem import Problem


def _places(problem: Problem) -> FloatArray | None:
    return excess_ms(problem.application, problem.network, problem.objective)


DURATION_EXCESS = AdditiveMetric(
    name="duration_excess", answer="duration_excess_ms", unit="ms", places=_places
)
