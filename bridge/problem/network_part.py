"""The network of a topology's problem: hosts, the sites of ends outside Storm, and the ways between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.outside import delays_to_site, with_sites
from bridge.problem.links.routes import ways_between
from scheduler.base.checks import LARGEST
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.problem import Network, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.network.delays import Delays
    from bridge.network.site_links import SiteLinks
    from bridge.network_settings import NetworkSettings
    from bridge.problem.frame import Frame
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What is known of the network, whatever the topology.

    Attributes:
        delays: Delays between hosts.
        availability: (n_hosts,) fraction of time that each host is up.
        links: The ways between sites.
        settings: What holds where nothing is measured.
    """

    delays: Delays
    availability: FloatArray
    links: SiteLinks
    settings: NetworkSettings


def network_part(
    state: RoundState, task: Task, frame: Frame, around: Surroundings, *, priced: bool
) -> Network:
    """Return the nodes of a problem and what lies between them.

    Args:
        state: The cluster so far.
        task: The topology.
        frame: Hosts that are open to it.
        around: The network.
        priced: Whether moves have a price.
    """
    block, sites, links = np.ix_(frame.hosts, frame.hosts), frame.sites, around.links
    hosts = state.hosts.hosts
    to_sites = [delays_to_site(each, hosts, around.delays, around.settings)[frame.hosts] for each in sites]
    # Worked out only where it is weighed: most topologies weigh the response time alone.
    up = around.delays.link_availability if task.settings.weights.get("availability") else None
    where = [*links.site[frame.hosts].tolist(), *(links.index(each) for each in sites)]
    site = np.array(where, dtype=np.int64)
    cost = links.cost if task.settings.weights.get(LINK_COST.name) else None
    linked = task.costed or frame.bandwidth is not None
    shape = len(sites), len(frame.hosts)
    return Network(
        nodes=(*_hosts(state, task, frame, around, priced=priced), *_sites(state, frame, around)),
        delay_ms=with_sites(around.delays.delay_ms[block], np.array(to_sites).reshape(shape), 0.0),
        link_availability=None if up is None else with_sites(up[block], np.ones(shape), 1.0),
        link_cost=None if cost is None else _without_diagonal(cost[np.ix_(site, site)]),
        underlay=ways_between(site, links, frame.bandwidth) if linked else None,
    )


def node_of_site(site: str) -> str:
    """Return the name of the node for what is outside Storm at a site."""
    return f"outside Storm at {site}"


def _without_diagonal(matrix: FloatArray) -> FloatArray:
    """Return a matrix with 0 from each node to itself: two sites of which nothing is known are two places."""
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _hosts(
    state: RoundState, task: Task, frame: Frame, around: Surroundings, *, priced: bool
) -> Iterator[Node]:
    cost = task.pricing.cost[frame.hosts].tolist()
    unit_cost = task.places.unit_cost[frame.hosts].tolist()
    speedup = state.hosts.speedup[frame.hosts].tolist()
    shared_s, rates = np.zeros(len(frame.hosts)), np.zeros(len(frame.hosts))
    if priced and task.pricing.pull_mb_per_s is not None:
        shared_s = task.pricing.shared_pull_s(frame.hosts)
        rates = np.minimum(task.pricing.pull_mb_per_s[frame.hosts], LARGEST)
    for node, (index, capacity) in enumerate(zip(frame.hosts.tolist(), frame.capacity.tolist(), strict=True)):
        host = state.hosts.hosts[index]
        yield Node(
            name=host.name,
            capacity=dict(zip(frame.resources, capacity, strict=True)),
            availability=float(around.availability[index]),
            site=host.site,
            tier=host.tier,
            speedup=speedup[node],
            cost=cost[node],
            unit_cost=unit_cost[node] if task.costed else 0.0,
            shared_pull_s=float(shared_s[node]),
            pull_mb_per_s=float(rates[node]),
        )


def _sites(state: RoundState, frame: Frame, around: Surroundings) -> Iterator[Node]:
    tiers = around.settings.tier_of_site
    for site in frame.sites:
        of_hosts = next((host.tier for host in state.hosts.hosts if host.site == site and host.tier), None)
        yield Node(
            name=node_of_site(site),
            capacity=dict.fromkeys(frame.resources, 0.0),
            site=site,
            tier=tiers.get(site, of_hosts),
        )
