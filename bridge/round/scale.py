"""Which scale of planning suits a round, and which topologies of a large one are looked at closely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.problem.permits import runs_where_forbidden
from bridge.round.small.small_round import HELD
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.packing.jobs import Order
    from bridge.problem.wishes import Wishes
    from bridge.round.round_data import RoundData
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Topology


def is_large(request: PlanRequest, data: RoundData, settings: Settings) -> bool:
    """Whether a round is planned by counts of components.

    Args:
        request: The round.
        data: What is known of hosts.
        settings: The daemon's settings.
    """
    usable = sum(host.usable for host in data.hosts.hosts)
    executors = sum(
        topology.n_executors for topology in request.topologies if UNASSIGNED in topology.executor_supervisor
    )
    return len(data.hosts.hosts) > settings.network.max_hosts or executors * usable > settings.plan.max_pairs


def is_small(topology: Topology, order: Order, data: RoundData, settings: Settings) -> bool:
    """Whether response time decides where a topology goes: few executors, and delays that are known.

    Args:
        topology: The topology.
        order: What is to be placed of it.
        data: What is known of hosts.
        settings: The daemon's settings.
    """
    few = topology.n_executors * settings.plan.max_hosts <= settings.plan.max_pairs
    return few and len(order.job.edges) > 0 and not data.delays.unknown and order.job.shared is None


def broken_pins(
    request: PlanRequest, wishes: Sequence[Wishes], data: RoundData, settings: Settings
) -> Iterator[int]:
    """Yield topologies that run where a pin or avoidance forbids it, if no later round is small.

    Args:
        request: The round.
        wishes: What each topology asks for.
        data: What is known of hosts.
        settings: The daemon's settings.
    """
    if len(data.hosts.hosts) <= settings.network.max_hosts:
        return
    for index, (topology, each) in enumerate(zip(request.topologies, wishes, strict=True)):
        held = each.own.frozen or topology.status in HELD
        if not held and runs_where_forbidden(topology, each.own, data.hosts):
            yield index
