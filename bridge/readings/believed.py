"""Readings of supervisor hosts: which are believed, and why the others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bridge.readings.node_payload import parse_node
from bridge.readings.payload_faults import PayloadFault, first_fault, kind_of
from bridge.wire.messages import ReadingKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bridge.settings import ReadingsSettings
    from bridge.wire.messages import PlanRequest, Reading
    from formats.node_reading import LinkFields, NodeFields

# The model works with logarithms: a host that is said to be never up is nearly never up.
LEAST_AVAILABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A network coordinate: one-way delay = Euclidean distance + both heights, ms.

    Attributes:
        position_ms: Place in the Euclidean part.
        height_ms: Cost of reaching the core of the network.
        error: Relative error that the host estimates.
    """

    position_ms: tuple[float, ...]
    height_ms: float
    error: float


@dataclass(frozen=True, slots=True)
class NodeReading:
    """What one host publishes about itself.

    Attributes:
        host: Name of the host.
        site: Its site, if the agent knows it.
        tier: What the agent says of its tier, if it knows it.
        coordinate: None if the error estimate is too large to be used.
        availability: Fraction of time that the host is up.
        links: Possible direct links by the name of the peer, whatever their age.
        age_s: Time since the shim saw the reading change.
        time_s: Unix time of the reading by the host's clock.
        sequence: Number of the reading since the agent's start.
        probe: Where the agent answers probes, if the reading has it.
        workers: Processor time in percent of one core by (topology, port), of workers that run for a while.
        outages: Number of times when the host was not up, which fades; 0 also where it is not published.
    """

    host: str
    site: str | None
    coordinate: Coordinate | None
    availability: float
    links: Mapping[str, LinkFields] = field(default_factory=dict)
    age_s: float = 0.0
    time_s: float = 0.0
    sequence: int = 0
    probe: str | None = None
    workers: Mapping[tuple[str, int], float] = field(default_factory=dict)
    outages: float = 0.0
    tier: str | None = None


@dataclass(frozen=True)
class Readings:
    """The readings that are believed, and what is wrong with the others.

    Attributes:
        by_host: Believed readings.
        stale: Hosts whose reading is older than its lifetime, sorted.
        uncertain: Hosts whose coordinate has too large an error, sorted.
        faults: One phrase per malformed or contradictory reading and per reading with impossible links.
        live: False if the shim has no connection to ZooKeeper.
        refused: Number of readings that were refused, by kind of fault.
        impossible_links: Number of links that were left out because they are impossible.
        stale_sites: Sites that stale readings name, by host: measurements grow old, a host's place does not.
        stale_tiers: Tiers that they name, likewise.
    """

    by_host: Mapping[str, NodeReading]
    stale: tuple[str, ...]
    uncertain: tuple[str, ...]
    faults: tuple[str, ...]
    live: bool
    refused: Mapping[PayloadFault, int] = field(default_factory=dict)
    impossible_links: int = 0
    stale_sites: Mapping[str, str] = field(default_factory=dict)
    stale_tiers: Mapping[str, str] = field(default_factory=dict)


def read_nodes(request: PlanRequest, hosts: Collection[str], settings: ReadingsSettings) -> Readings:
    """Parse the node readings of a request.

    A reading counts as missing, never as zero, if it is older than the lifetime that it states.

    Args:
        request: The round.
        hosts: Hosts of the cluster; readings of others are left aside.
        settings: Lifetime where none is stated, largest error that is believed.
    """
    by_host: dict[str, NodeReading] = {}
    stale: dict[str, NodeFields] = {}
    uncertain: list[str] = []
    refused: list[tuple[PayloadFault, str]] = []
    impossible: list[str] = []
    impossible_links = 0
    for reading in request.readings:
        if reading.kind is not ReadingKind.NODE or reading.name not in hosts:
            continue
        try:
            parsed = parse_node(reading.payload)
        except ValidationError as error:
            kind = kind_of(error)
            refused.append((kind, f"reading of {reading.name} is malformed ({first_fault(error)})"))
            continue
        payload, bad_links = parsed.fields, parsed.bad_links
        if payload["host"] != reading.name:
            phrase = f"reading of {reading.name} says that it is of {payload['host']}"
            refused.append((PayloadFault.FOREIGN, phrase))
            continue
        if reading.name in by_host or reading.name in stale:
            refused.append((PayloadFault.DUPLICATE, f"reading of {reading.name} occurs twice"))
            continue
        stated_s = payload.get("lifetime_s")
        lifetime_s = settings.lifetime_s if stated_s is None else stated_s
        if reading.age_ms > lifetime_s * 1000:
            stale[reading.name] = payload
            continue
        if bad_links:
            impossible_links += len(bad_links)
            others = " and others" if len(bad_links) > 1 else ""
            impossible.append(f"reading of {reading.name} holds an impossible link ({bad_links[0]}){others}")
        trusted = payload["error"] <= settings.max_error
        if not trusted:
            uncertain.append(reading.name)
        by_host[reading.name] = _believe(reading, payload, trusted=trusted)
    return Readings(
        by_host,
        tuple(sorted(stale)),
        tuple(sorted(uncertain)),
        (*(phrase for _, phrase in refused), *impossible),
        request.readings_live,
        Counter(kind for kind, _ in refused),
        impossible_links,
        {host: site for host, each in stale.items() if (site := each.get("site")) is not None},
        {host: tier for host, each in stale.items() if (tier := each.get("tier")) is not None},
    )


def _believe(reading: Reading, payload: NodeFields, *, trusted: bool) -> NodeReading:
    coordinate = Coordinate(tuple(payload["coordinate"]), payload["height"], payload["error"])
    return NodeReading(
        host=payload["host"],
        site=payload.get("site"),
        coordinate=coordinate if trusted else None,
        availability=max(payload["availability"], LEAST_AVAILABILITY),
        links=payload.get("links") or {},
        age_s=reading.age_ms / 1000.0,
        time_s=payload["time"],
        sequence=payload["sequence"],
        probe=payload.get("probe"),
        outages=(payload.get("outages") or {"count": 0.0})["count"],
        tier=payload.get("tier"),
        workers={(each["topology"], each["port"]): each["percent"] for each in payload.get("workers") or ()},
    )
