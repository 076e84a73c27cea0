"""Traffic between distinct nodes (the goal of many Storm schedulers, such as Aniello et al., DEBS 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.metrics.record import AdditiveMetric, LinkTerm

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def _links(problem: Problem) -> tuple[LinkTerm, ...]:
    application = problem.application
    return (LinkTerm(problem.network.apart, application.rate * application.tuple_bytes),)


INTER_NODE_TRAFFIC = AdditiveMetric(
    name="inter_node_traffic", answer="inter_node_traffic_bytes_s", unit="bytes/s", proof=4, links=_links
)
