"""Which scale of planning suits a round, and which topologies of a large one are looked at closely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.problem.permits import runs_where_forbidden
from bridge.wire.messages import UNASSIGNED
from bridge.wishes.wishes import HELD

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from bridge.packing.jobs import Order
    from bridge.round.round_data import RoundData
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Topology
    from bridge.wishes.wishes import Wishes


MOST_TOPOLOGIES = 2_000
"""Topologies up to which each is looked at by itself.

Each costs a round 0.2 to 0.4 ms before anything of it is planned, and no clock is asked in between: ten times
as many would take seconds.
"""


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
    many = executors * usable > settings.plan.max_pairs
    return many or _stays_large(len(request.topologies), data, settings)


def is_large_beside(
    request: PlanRequest, aside: Collection[int], data: RoundData, settings: Settings
) -> bool:
    """Whether what runs is too much for a small round, too, if all that lacks executors stands aside.

    Args:
        request: The round.
        aside: Positions of the topologies that lack executors.
        data: What is known of hosts.
        settings: The daemon's settings.
    """
    return _stays_large(len(request.topologies) - len(aside), data, settings)


def _stays_large(n_topologies: int, data: RoundData, settings: Settings) -> bool:
    """Whether a round of so many topologies would be large even if nothing were missing."""
    return len(data.hosts.hosts) > settings.network.max_hosts or n_topologies > MOST_TOPOLOGIES


def suits_a_close_up(topology: Topology, order: Order, data: RoundData, settings: Settings) -> bool:
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
    if not _stays_large(len(request.topologies), data, settings):
        return
    for index, (topology, each) in enumerate(zip(request.topologies, wishes, strict=True)):
        held = each.own.frozen or topology.status in HELD
        if not held and runs_where_forbidden(topology, each.own, data.hosts):
            yield index
