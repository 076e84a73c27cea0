"""One book of a round: what topologies send between sites, and what they leave of bandwidths to one another.

Flows follow measured rates and sizes of tuples as far as there are any; those to and from ends outside Storm
count too. Both directions count together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bridge.problem.component_flows import component_flows
from bridge.problem.links.terminals import terminals_of
from bridge.readings.rates import UNMEASURED
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.network.site_links import SiteLinks
    from bridge.problem.component_flows import ComponentFlows
    from bridge.problem.links.terminals import Terminal
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.readings.rates import MeasuredRates
    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from bridge.wishes.topology_settings import TopologySettings
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BandwidthLeft:
    """What is left of bandwidths, bytes/s, never below 0, infinite without a limit.

    Attributes:
        uplink: (n_sites + 1,) into and out of each site.
        between: (n_sites + 1, n_sites + 1) between two sites, symmetric.
    """

    uplink: FloatArray
    between: FloatArray


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """What all topologies send over a limited way between sites.

    Attributes:
        what: The way.
        bytes_per_s: Both directions together.
        most: What it carries, bytes/s.
    """

    what: str
    bytes_per_s: float
    most: float

    @property
    def part(self) -> float:
        """Of what it carries."""
        return self.bytes_per_s / self.most


class Sending(NamedTuple):
    """What one topology sends, wherever its executors run.

    Attributes:
        flows: Between components.
        terminals: To and from ends outside Storm.
    """

    flows: ComponentFlows
    terminals: tuple[Terminal, ...]


def sending(
    topology: Topology, own: TopologySettings, settings: PlanSettings, measured: MeasuredRates | None
) -> Sending:
    """Return what a topology sends.

    Args:
        topology: The topology.
        own: Its settings.
        settings: What holds where nothing is measured.
        measured: Its measured rates, None without any.
    """
    flows = component_flows(topology, settings, own.rates, measured or UNMEASURED, own.tuple_bytes)
    return Sending(flows, terminals_of(own, topology.component_names, flows))


class BandwidthBook:
    """The book of one round.

    Args:
        links: The ways between sites.
        host_of_supervisor: Host of each supervisor.
        count: Number of topologies.
        supervisors_of: Where the executors of a topology run by now, by its position in the request:
            supervisor of each, `UNASSIGNED` for none.
        sending_of: What a topology sends, likewise.
    """

    def __init__(
        self,
        links: SiteLinks,
        host_of_supervisor: Sequence[int],
        count: int,
        supervisors_of: Callable[[int], tuple[int, ...]],
        sending_of: Callable[[int], Sending],
    ) -> None:
        self._links = links
        self._count = count
        # behind the hosts: for executors without one
        self._site = np.append(links.site[list(host_of_supervisor)], len(links.names) + 1)
        self._supervisors_of = supervisors_of
        self._sending_of = sending_of
        self._known: dict[int, tuple[tuple[int, ...], FloatArray]] = {}

    def left_by_others(self, topology: int) -> BandwidthLeft | None:
        """Return what all other topologies leave; None if no bandwidth is limited.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return None
        used = self._total() - self._traffic(topology)
        return BandwidthLeft(
            uplink=np.maximum(links.uplink - used.sum(axis=1), 0.0),
            between=np.maximum(links.bandwidth - used, 0.0),
        )

    def loads(self, topology: int) -> tuple[LinkLoad, ...]:
        """Return the limited ways between sites that a topology's streams take, the fullest first.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return ()
        own, every, names = self._traffic(topology), self._total(), links.names
        found = [
            LinkLoad(f"uplink {names[k]}", float(every[k].sum()), float(links.uplink[k]))
            for k in np.flatnonzero(np.isfinite(links.uplink) & (own.sum(axis=1) > 0)).tolist()
        ]
        found += [
            LinkLoad(f"link {names[a]} - {names[b]}", float(every[a, b]), float(links.bandwidth[a, b]))
            for a, b in np.argwhere(np.triu(np.isfinite(links.bandwidth) & (own > 0), 1)).tolist()
        ]
        return tuple(sorted(found, key=lambda each: -each.part))

    def _total(self) -> FloatArray:
        """(n_sites + 1, n_sites + 1) what all topologies send between sites, symmetric."""
        total = np.zeros(self._links.bandwidth.shape)
        for each in range(self._count):
            total += self._traffic(each)
        return total

    def _traffic(self, topology: int) -> FloatArray:
        """Return what a topology sends between sites, worked out once for where its executors run."""
        supervisors = self._supervisors_of(topology)
        known = self._known.get(topology)
        if known is None or known[0] != supervisors:
            site = self._site[np.where(np.array(supervisors) == UNASSIGNED, -1, supervisors)]
            known = supervisors, self._sent(topology, site.astype(np.int64))
            self._known[topology] = known
        return known[1]

    def _sent(self, topology: int, site: IntArray) -> FloatArray:
        shape = self._links.bandwidth.shape
        if len(set(site.tolist())) == 1 and not self._sending_of(topology).terminals:
            return np.zeros(shape)
        return traffic(self._sending_of(topology), site, self._links)


def book_of(state: RoundState, links: SiteLinks, task_of: Callable[[int], Task]) -> BandwidthBook:
    """Return the book of a round that is planned executor by executor.

    Args:
        state: The cluster as decisions are taken.
        links: The ways between sites.
        task_of: What is known of a topology, by its position in the request.
    """

    def sending_of(topology: int) -> Sending:
        task = task_of(topology)
        return Sending(task.flows, task.terminals)

    hosts, count = state.hosts.host_of_supervisor, len(state.request.topologies)
    return BandwidthBook(links, hosts, count, state.supervisors, sending_of)


def traffic(sending: Sending, site: IntArray, links: SiteLinks) -> FloatArray:
    """Return (n_sites + 1, n_sites + 1) what a topology sends between sites, bytes/s, symmetric.

    What flows within a site is left out, and so is what executors without a slot would send.

    Args:
        sending: What it sends.
        site: (n_executors,) site of each executor, one more than the number of sites for none.
        links: Knows the sites.
    """
    flows, width = sending.flows, len(links.names) + 2
    members = flows.layout.members
    total = np.zeros((width, width))
    for edge, flow, size in zip(flows.edges, flows.flows, flows.tuple_bytes.tolist(), strict=True):
        sent = np.bincount(site[members[edge.source]], flow.sent * size, width)
        total += np.outer(sent, np.bincount(site[members[edge.target]], flow.weight, width))
    for each in sending.terminals:
        total[links.index(each.site)] += np.bincount(site[each.members], each.rate * each.tuple_bytes, width)
    placed = total[:-1, :-1]
    between = placed + placed.T
    np.fill_diagonal(between, 0.0)
    return between
