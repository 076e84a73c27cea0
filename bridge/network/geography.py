"""The network as readings describe it, by host and by site, for people to look at."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from bridge.network.cluster import gather_hosts
from bridge.network.delays import Provenance, comparable_coordinates, estimate_delays
from bridge.network.embedding import relative_errors
from bridge.network.links import gather_links
from bridge.network.site_matrix import site_cells
from bridge.network.site_medians import site_indices
from bridge.readings.believed import Readings, read_nodes
from bridge.readings.node_payload import NodePayload, parse_node
from bridge.wire.messages import ReadingKind, Supervisor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.network.delays import Delays
    from bridge.network.links import Links, Pairs
    from bridge.network.site_matrix import SiteCell
    from bridge.readings.believed import Coordinate
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Reading
    from formats.node_reading import LoadFields, OutagesFields
    from scheduler.base.arrays import BoolArray, FloatArray

_CONTRADICTED_SHOWN = 3
"""Of a host that contradicts more others their number stands beside it; all pairs are known anyway."""


class ReadingState(StrEnum):
    """What became of a host's reading."""

    BELIEVED = "believed"
    STALE = "stale"
    REFUSED = "refused"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class HostView:
    """One host.

    Attributes:
        name: Its name.
        site: Its site, if known.
        tier: Its tier, if known.
        state: What became of its reading; a host without one has nothing below but faults.
        age_s: Age of the reading, s.
        coordinate: Its coordinate, None if it is not used.
        error: Relative error of the coordinate as the host estimates it.
        measured_error: Median relative error of the coordinate over its pairs with a fresh direct link.
        links: Number of these pairs.
        availability: Share of time that it is up.
        load: Of its processors, memory and slots.
        outages: Times when it was down or cut off.
        faults: What is wrong, one phrase each, to be read after the host's name.
    """

    name: str
    site: str | None
    tier: str | None
    state: ReadingState
    age_s: float | None = None
    coordinate: Coordinate | None = None
    error: float | None = None
    measured_error: float | None = None
    links: int = 0
    availability: float | None = None
    load: LoadFields | None = None
    outages: OutagesFields | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Judged:
    """Pairs of hosts whose coordinates can be judged: they have a fresh direct link.

    Attributes:
        measured_ms: (n_pairs,) delay of the link, one way.
        embedded_ms: (n_pairs,) delay by coordinates.
        same_site: (n_pairs,) whether both are at one site.
    """

    measured_ms: FloatArray
    embedded_ms: FloatArray
    same_site: BoolArray


@dataclass(frozen=True, eq=False)
class Geography:
    """The network as readings show it.

    Attributes:
        hosts: All hosts of supervisors, sorted by name; of readings too if supervisors are not known.
        strangers: Hosts with a reading and no supervisor, which the planner leaves aside and nothing below
            looks at; None if supervisors are not known.
        sites: Names of sites; cells refer to them. One more index is for hosts without a site.
        cells: Delays by pairs of sites.
        delays: Delays of all pairs, without the overhead of a hop.
        judged: Pairs with coordinates and a fresh direct link.
        max_embedding_error: Limit of the coordinates' median error.
        without_agent: Hosts of supervisors without any reading; None if supervisors are not known.
        faults: What contradicts itself beyond single hosts' readings.
        live: False if the shim had no connection to ZooKeeper.
    """

    hosts: tuple[HostView, ...]
    strangers: tuple[HostView, ...] | None
    sites: tuple[str, ...]
    cells: tuple[SiteCell, ...]
    delays: Delays
    judged: Judged
    max_embedding_error: float
    without_agent: tuple[str, ...] | None
    faults: tuple[str, ...]
    live: bool

    def in_state(self, state: ReadingState) -> tuple[str, ...]:
        """Return the names of the hosts whose reading is in a state."""
        return tuple(host.name for host in self.hosts if host.state is state)

    @property
    def without_supervisor(self) -> tuple[str, ...] | None:
        """Names of the strangers."""
        return None if self.strangers is None else tuple(host.name for host in self.strangers)

    @property
    def contradictions(self) -> tuple[tuple[str, str], ...]:
        """Pairs of hosts that measure different delays to each other."""
        return self.delays.links.contradictions


def survey(request: PlanRequest, settings: Settings, *, supervisors_known: bool) -> Geography:
    """Look at the readings of a request as the planner does.

    Args:
        request: Readings and supervisors; topologies do not matter.
        settings: The daemon's settings: what is believed.
        supervisors_known: Whether the request's supervisors are all there are.
    """
    by_name: dict[str, list[Reading]] = defaultdict(list)
    for reading in request.readings:
        if reading.kind is ReadingKind.NODE:
            by_name[reading.name].append(reading)
    of_supervisors = {supervisor.host for supervisor in request.supervisors}
    stand_ins = tuple(map(_stand_in, sorted(by_name.keys() - of_supervisors)))
    looked_at = {
        name: read_nodes(replace(request, readings=tuple(readings)), {name}, settings.readings)
        for name, readings in by_name.items()
    }
    readings = _together(looked_at, live=request.readings_live)
    strangers = None
    if supervisors_known:
        apart = gather_hosts(replace(request, supervisors=stand_ins), settings, readings).hosts
        strangers = tuple(_view(host, by_name[host.name], looked_at[host.name]) for host in apart)
        stand_ins = ()
    # Hosts that are not among these have no delays, whatever their readings say.
    everybody = replace(request, supervisors=request.supervisors + stand_ins)
    found = gather_hosts(everybody, settings, readings)
    # What lies between hosts is looked at, not what leaving a worker costs.
    network = settings.network.model_copy(update={"hop_overhead_ms": 0.0})
    links = gather_links(found.hosts, readings, settings.readings.link_lifetime_s)
    delays = estimate_delays(found.hosts, readings, network, links)
    unaided = estimate_delays(found.hosts, readings, network)
    embedded = np.where(unaided.provenance == Provenance.COORDINATES, unaided.delay_ms, np.nan)
    errors = _errors_by_host(relative_errors(embedded, links.delays), links.delays)
    coordinates = comparable_coordinates(found.hosts, readings)
    contradicting = _contradicting(links)
    return Geography(
        hosts=tuple(
            _view(
                host,
                by_name.get(host.name, ()),
                looked_at.get(host.name),
                coordinate=coordinates[index],
                errors=errors.get(index, ()),
                contradicts=contradicting.get(host.name, ()),
            )
            for index, host in enumerate(found.hosts)
        ),
        strangers=strangers,
        sites=site_indices(found.hosts)[0],
        cells=site_cells(delays),
        delays=delays,
        judged=_judge(embedded, links.delays, delays),
        max_embedding_error=network.max_embedding_error,
        without_agent=tuple(sorted(of_supervisors - by_name.keys())) if supervisors_known else None,
        faults=found.faults,
        live=request.readings_live,
    )


def worst_first(hosts: Sequence[HostView]) -> list[HostView]:
    """Sort hosts by need of a look: no believed reading, faults, then error of the coordinate."""

    def need(host: HostView) -> tuple[bool, bool, float, str]:
        error = max(host.measured_error or 0.0, host.error or 0.0)
        return host.state is ReadingState.BELIEVED, not host.faults, -error, host.name

    return sorted(hosts, key=need)


def _together(looked_at: Mapping[str, Readings], *, live: bool) -> Readings:
    each = looked_at.values()
    return Readings(
        by_host={host: reading for one in each for host, reading in one.by_host.items()},
        stale=tuple(sorted(name for one in each for name in one.stale)),
        uncertain=tuple(sorted(name for one in each for name in one.uncertain)),
        faults=tuple(fault for one in each for fault in one.faults),
        live=live,
        impossible_links=sum(one.impossible_links for one in each),
        stale_sites={host: site for one in each for host, site in one.stale_sites.items()},
        stale_tiers={host: tier for one in each for host, tier in one.stale_tiers.items()},
    )


def _stand_in(host: str) -> Supervisor:
    """Make a host of which only a reading is known one of the cluster; its site is what its agent says."""
    return Supervisor(f"reading of {host}", host, (), False, False, 0.0, 0.0, {})


def _errors_by_host(errors: FloatArray, pairs: Pairs) -> dict[int, list[float]]:
    by_host: dict[int, list[float]] = defaultdict(list)
    for low, high, error in zip(pairs.low.tolist(), pairs.high.tolist(), errors.tolist(), strict=True):
        if not np.isnan(error):
            by_host[low].append(error)
            by_host[high].append(error)
    return by_host


def _contradicting(links: Links) -> dict[str, list[str]]:
    by_host: dict[str, list[str]] = defaultdict(list)
    for one, other in links.contradictions:
        by_host[one].append(other)
        by_host[other].append(one)
    return by_host


def _judge(embedded_ms: FloatArray, pairs: Pairs, delays: Delays) -> Judged:
    of_coordinates = embedded_ms[pairs.low, pairs.high]
    known = ~np.isnan(of_coordinates)
    one, other = delays.site[pairs.low], delays.site[pairs.high]
    same = (one == other) & (one < delays.n_sites)
    return Judged(pairs.value[known], of_coordinates[known], same[known])


def _view(
    host: Host,
    readings: Sequence[Reading],
    looked_at: Readings | None,
    *,
    coordinate: Coordinate | None = None,
    errors: Sequence[float] = (),
    contradicts: Sequence[str] = (),
) -> HostView:
    """Describe a host; what only the comparison with others shows comes as keyword arguments."""
    seen = partial(HostView, host.name, host.site, host.tier)
    if looked_at is None:
        return seen(ReadingState.ABSENT, faults=("has no agent",))
    age_s = min(reading.age_ms for reading in readings) / 1000.0
    faults = [fault.removeprefix(f"reading of {host.name} ") for fault in looked_at.faults]
    believed = looked_at.by_host.get(host.name)
    if host.name in looked_at.stale:
        return seen(ReadingState.STALE, age_s, faults=("is stale", *faults))
    if believed is None:
        return seen(ReadingState.REFUSED, age_s, faults=tuple(faults))
    parsed = _first_possible(readings)
    if host.name in looked_at.uncertain:
        faults.append("has a coordinate with too large an error")
    faults.extend(parsed.bad_figures)
    if contradicts:
        few = len(contradicts) <= _CONTRADICTED_SHOWN
        faults.append(f"contradicts {', '.join(contradicts) if few else f'{len(contradicts)} hosts'}")
    return seen(
        ReadingState.BELIEVED,
        believed.age_s,
        coordinate=coordinate,
        error=parsed.fields["error"],
        measured_error=float(np.median(errors)) if errors else None,
        links=len(errors),
        availability=believed.availability,
        load=parsed.fields.get("load"),
        outages=parsed.fields.get("outages"),
        faults=tuple(faults),
    )


def _first_possible(readings: Sequence[Reading]) -> NodePayload:
    """Return the first reading that can be read; several of one host are a fault of their own."""
    *others, last = readings
    for reading in others:
        with suppress(ValidationError):
            return parse_node(reading.payload)
    return parse_node(last.payload)
