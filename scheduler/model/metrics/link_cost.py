"""Link cost Q (paper 002, eq. 6): what streams cost along their routes, whatever their traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.metrics.record import AdditiveMetric, LinkTerm

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def _links(problem: Problem) -> tuple[LinkTerm, ...]:
    return (LinkTerm(problem.network.stream_costs, problem.application.link_weight),)


LINK_COST = AdditiveMetric(name="link_cost", answer="link_cost", links=_links, default_range=(0.0, 1.0))
"""With its range of [0, 1] F is the paper's cost (eq. 7)."""
