"""The list of all metrics; their order is that of sums, ranges and answers."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from scheduler.model.metrics.availability import AVAILABILITY
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.duration_excess import DURATION_EXCESS
from scheduler.model.metrics.inter_node_traffic import INTER_NODE_TRAFFIC
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.metrics.migration import MIGRATION
from scheduler.model.metrics.network_usage import NETWORK_USAGE
from scheduler.model.metrics.placement_cost import PLACEMENT_COST
from scheduler.model.metrics.response_time import RESPONSE_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.metrics.record import Metric

ADDITIVE_METRICS = (
    AVAILABILITY,
    NETWORK_USAGE,
    INTER_NODE_TRAFFIC,
    COST,
    MIGRATION,
    DURATION_EXCESS,
    PLACEMENT_COST,
    LINK_COST,
)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for metric in (RESPONSE_TIME, *ADDITIVE_METRICS)}
)
"""All metrics by name."""

RANGED: tuple[str, ...] = tuple(name for name, metric in METRICS.items() if metric.default_range is None)
"""Metrics whose range is what placements can have, unless one is given."""
