"""What a round knows before it plans: believed readings, what follows from them, what topologies ask for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import gather_hosts
from bridge.network.delays import estimate_delays
from bridge.network.links import gather_links
from bridge.network.site_bandwidths import site_bandwidths
from bridge.network.site_distances import hosts_of_all_sites
from bridge.network.site_links import gather_site_links
from bridge.problem.cpu_demand import cpu_demands
from bridge.problem.network_part import Surroundings
from bridge.readings.believed import read_nodes
from bridge.readings.drains import read_drains
from bridge.readings.fault_kinds import FaultKind
from bridge.readings.rates import read_rates
from bridge.round.unread import read_wishes
from bridge.wishes.cluster_settings import parse_cluster_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host, Hosts
    from bridge.network.delays import Delays
    from bridge.network.site_links import SiteLinks
    from bridge.network_settings import NetworkSettings
    from bridge.problem.cpu_demand import CpuDemand
    from bridge.problem.links.bandwidth_book import Elsewhere
    from bridge.readings.believed import Readings
    from bridge.readings.drains import Drains
    from bridge.readings.rates import Rates
    from bridge.round.unread import Failure
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest
    from bridge.wishes.cluster_settings import ClusterSettings
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import FloatArray

NOT_LIVE = "readings are not live (no connection to ZooKeeper)"


@dataclass(frozen=True, eq=False)
class RoundData:
    """The network and the traffic as far as they are known, and what topologies ask for.

    Attributes:
        readings: Believed readings of hosts.
        hosts: Hosts of the round.
        located: Hosts that delays are known of: some of each site if there are more than `network.max_hosts`.
        delays: Delays between these.
        availability: (n_hosts,) fraction of time that each host is up.
        site_links: The ways between sites.
        measured_ways: Bandwidths that agents measured, bytes/s, by the names of two sites.
        network: What holds where nothing is measured.
        rates: Measured rates of topologies.
        cluster: What Nimbus' own configuration says.
        cpu: CPU that each topology's executors need, by its id; none where CPU does not count.
        wishes: What each topology asks for.
        unread: Why, by id of those of which it cannot be read.
        bad_drains: Drains that cannot be read.
        announced_s: Time until hosts are to be emptied, by name, where that is announced, s.
        faults: What is wrong with readings, metadata, drains and that configuration, one phrase each.
        elsewhere: What topologies send that are not in the request; None: there are none.
    """

    readings: Readings
    hosts: Hosts
    located: tuple[Host, ...]
    delays: Delays
    availability: FloatArray
    site_links: SiteLinks
    measured_ways: Mapping[frozenset[str], float]
    network: NetworkSettings
    rates: Rates
    cluster: ClusterSettings
    cpu: Mapping[str, CpuDemand]
    wishes: tuple[Wishes, ...]
    unread: Mapping[str, Failure]
    bad_drains: int
    announced_s: Mapping[str, float]
    faults: tuple[str, ...]
    elsewhere: Elsewhere | None = None

    @cached_property
    def availability_error(self) -> FloatArray:
        """(n_hosts,) standard error of the availabilities; 0 where no outage says how far one is off.

        The time that a host was down is a sum of few outages, of lengths as different as exponential ones.
        """
        known = [self.readings.by_host.get(host.name) for host in self.hosts.hosts]
        outages = np.array([0.0 if each is None else each.outages for each in known], dtype=np.float64)
        spread = np.sqrt(2.0 / np.maximum(outages, 1.0))
        return np.where(outages > 0, (1.0 - self.availability) * spread, 0.0)

    @property
    def surroundings(self) -> Surroundings:
        """The network, as problems need it."""
        return Surroundings(self.delays, self.availability, self.site_links, self.network)

    @property
    def named_faults(self) -> tuple[str, ...]:
        """What the log names, one phrase each: all that is faulty, and what status lines only count."""
        return (
            *self.faults,
            *(f"reading of {host} is stale" for host in self.readings.stale),
            *(f"rates of {topology} are stale" for topology in self.rates.stale),
            *(() if self.readings.live else (NOT_LIVE,)),
        )

    @property
    def fault_counts(self) -> dict[FaultKind, int]:
        """Number of faulty inputs of the round by kind, as far as they are seen in a single round."""
        return {
            **{FaultKind(f"readings_{kind}"): count for kind, count in self.readings.refused.items()},
            FaultKind.READINGS_STALE: len(self.readings.stale),
            FaultKind.READINGS_NOT_LIVE: int(not self.readings.live),
            FaultKind.COORDINATES_UNCERTAIN: len(self.readings.uncertain),
            FaultKind.COORDINATES_CONTRADICTORY: int(not self.delays.embedding.trusted),
            FaultKind.LINKS_IMPOSSIBLE: self.readings.impossible_links,
            FaultKind.LINKS_CONTRADICTORY: len(self.delays.links.contradictions),
            **{FaultKind(f"rates_{kind}"): count for kind, count in self.rates.refused.items()},
            FaultKind.RATES_STALE: len(self.rates.stale),
            FaultKind.SUPERVISOR_METADATA: len(self.hosts.faults),
            FaultKind.DRAINS: self.bad_drains,
        }


def gather_data(
    request: PlanRequest, settings: Settings, recalled: Mapping[frozenset[str], float] | None = None
) -> RoundData:
    """Read what a request brings of measurements, and what topologies ask for.

    Args:
        request: The round.
        settings: The daemon's settings.
        recalled: Bandwidths of earlier rounds, which count where none is measured in this one.
    """
    readings = read_nodes(
        request, frozenset(supervisor.host for supervisor in request.supervisors), settings.readings
    )
    hosts = gather_hosts(request, settings, readings)
    # Of more hosts the delays of all pairs are not worked out: some of each site show how far it is.
    some = hosts_of_all_sites(hosts.hosts, readings, settings.network.max_hosts)
    links = gather_links(some, readings, settings.readings.link_lifetime_s)
    delays = estimate_delays(some, readings, settings.network, links)
    rates = read_rates(request)
    cluster = parse_cluster_settings(request.cluster_json)
    drains = read_drains(request.drains)
    wishes, unread = read_wishes(request.topologies, settings.plan)
    announced_s = _announced_s(hosts.hosts, drains)
    measured_ways = site_bandwidths(some, links)
    return RoundData(
        readings=readings,
        hosts=hosts,
        located=some,
        delays=delays,
        availability=_availability(hosts.hosts, readings, settings.readings.default_availability),
        site_links=gather_site_links(hosts.hosts, settings.network, {**(recalled or {}), **measured_ways}),
        measured_ways=measured_ways,
        network=settings.network,
        rates=rates,
        cluster=cluster,
        cpu=cpu_demands(request, rates, readings, settings.capacity),
        wishes=_avoiding(wishes, announced_s, settings.move.horizon_s),
        unread=unread,
        bad_drains=len(drains.faults),
        announced_s=announced_s,
        faults=delays.faults + readings.faults + rates.faults + hosts.faults + cluster.faults + drains.faults,
    )


def _announced_s(hosts: Sequence[Host], drains: Drains) -> dict[str, float]:
    if not drains.announced:
        return {}
    begins = {host.name: drains.begins_s(host.name, host.site) for host in hosts}
    return {name: begins_s for name, begins_s in begins.items() if begins_s is not None}


def _avoiding(
    wishes: tuple[Wishes, ...], announced_s: Mapping[str, float], soon_s: float
) -> tuple[Wishes, ...]:
    if not announced_s:
        return wishes
    soon = {name for name, begins_s in announced_s.items() if begins_s <= soon_s}
    # where topologies are many, most of them share what they ask for
    changed = {id(each): each.avoiding(soon, announced_s) for each in wishes}
    return tuple(changed[id(each)] for each in wishes)


def _availability(hosts: Sequence[Host], readings: Readings, default: float) -> FloatArray:
    known = [reading.availability for reading in readings.by_host.values()]
    # A host without a reading is taken as an ordinary one, neither perfect nor dead.
    usual = float(np.median(known)) if known else default
    return np.array(
        [
            readings.by_host[host.name].availability if host.name in readings.by_host else usual
            for host in hosts
        ],
        dtype=np.float64,
    )
