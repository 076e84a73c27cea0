"""The round that follows when plans have been carried out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.wire.messages import UNASSIGNED, Decision

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan


def carried_out(request: PlanRequest, plans: Iterable[TopologyPlan]) -> PlanRequest:
    """Return the round as if plans had been carried out; topologies without one are as they were."""
    by_id = {plan.topology_id: plan for plan in plans}
    return replace(
        request, topologies=tuple(_carried_out(each, by_id.get(each.id)) for each in request.topologies)
    )


def _carried_out(topology: Topology, plan: TopologyPlan | None) -> Topology:
    if plan is not None and plan.evicted_for is not None:
        nowhere = (UNASSIGNED,) * topology.n_executors
        return replace(topology, executor_supervisor=nowhere, executor_port=nowhere)
    if plan is None or plan.decision is not Decision.ASSIGN:
        return topology
    return replace(
        topology,
        executor_supervisor=plan.executor_supervisor,
        executor_port=plan.executor_port,
        last_supervisor=None,
        last_port=None,
        left_supervisor=None,
        left_port=None,
    )
