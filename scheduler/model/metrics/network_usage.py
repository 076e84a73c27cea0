"""Network usage Z (paper 000, eq. 13-14): bytes under way between nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.metrics.record import AdditiveMetric, LinkTerm

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def _links(problem: Problem) -> tuple[LinkTerm, ...]:
    application = problem.application
    bytes_per_ms = application.rate * application.tuple_bytes / 1000.0
    return (LinkTerm(problem.network.delays, bytes_per_ms),)


NETWORK_USAGE = AdditiveMetric(
    name="network_usage", answer="network_usage_bytes", unit="bytes", proof=2, links=_links
)
