"""Holds what an agent publishes about its host, and reads what it needs of others.

The znode `<root>/nodes/<host>` holds one JSON object, packed if it is large (`formats.packed_content`);
`formats.node_reading` says what each field means. Here numbers are not rounded yet, and each field has a
value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formats.node_reading import VERSION
from monitoring.ip_addresses import fault, is_loopback
from monitoring.json_input import describe, json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.node_reading import LinkFields, NodeFields, WorkerFields
    from monitoring.coordinate import Coordinate


@dataclass(frozen=True, slots=True)
class Address:
    """A numeric IP address and a UDP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Outages:
    """Outages of a host: their faded number, and s since the last one ended (None if there was none)."""

    count: float
    last_s: float | None


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What a path carries, bytes/s with IP headers, and s since it was measured last."""

    bytes_per_s: float
    age_s: float


@dataclass(frozen=True, slots=True)
class Link:
    """One link, as in `LinkFields`; no bandwidth if it is not measured."""

    delay_ms: float
    age_s: float
    delay_age_s: float
    samples: int
    loss: float
    availability: float
    bandwidth: Bandwidth | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """What is in use of the whole host, as in `LoadFields`; no slots if their ports are not known."""

    cpu: float
    memory: float
    run_queue: float
    slots_used: int | None
    slots: int | None


@dataclass(frozen=True, slots=True)
class WorkerCpu:
    """Processor time of one worker, as in `WorkerFields`."""

    port: int
    topology: str
    percent: float
    children: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one host, as in `NodeFields`."""

    time_s: float
    sequence: int
    lifetime_s: float
    host: str
    site: str | None
    coordinate: Coordinate
    availability: float
    outages: Outages
    load: Load
    links: Mapping[str, Link]
    probe: Address
    workers: tuple[WorkerCpu, ...] = ()
    tier: str | None = None


def to_json(reading: Reading) -> bytes:
    """Return the reading as text.

    Raises:
        ValueError: If a number is not finite; such a reading must never be published.
    """
    place = reading.coordinate
    content: NodeFields = {
        "version": VERSION,
        "time": round(reading.time_s, 3),
        "sequence": reading.sequence,
        "lifetime_s": reading.lifetime_s,
        "host": reading.host,
        "site": reading.site,
        "tier": reading.tier,
        "coordinate": [round(number, 4) for number in place.position_ms],
        "height": round(place.height_ms, 4),
        "error": round(place.error, 4),
        "availability": round(reading.availability, 6),
        "outages": {
            "count": round(reading.outages.count, 3),
            "last_s": None if (last_s := reading.outages.last_s) is None else round(last_s, 1),
        },
        "load": {
            "cpu": round(reading.load.cpu, 3),
            "memory": round(reading.load.memory, 3),
            "run_queue": round(reading.load.run_queue, 3),
            "slots_used": reading.load.slots_used,
            "slots": reading.load.slots,
        },
        "links": {peer: _link(link) for peer, link in reading.links.items()},
        "probe": str(reading.probe),
        "workers": [_worker(each) for each in reading.workers],
    }
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def _worker(worker: WorkerCpu) -> WorkerFields:
    fields: WorkerFields = {"port": worker.port, "topology": worker.topology, "percent": worker.percent}
    if worker.children:
        fields["children"] = {script: round(used_s, 1) for script, used_s in worker.children.items()}
    return fields


def _link(link: Link) -> LinkFields:
    fields: LinkFields = {
        "delay_ms": round(link.delay_ms, 3),
        "age_s": round(link.age_s, 1),
        "samples": link.samples,
        "loss": round(link.loss, 4),
        "availability": round(link.availability, 6),
    }
    # nearly always the same: thirty-two of them are an eighth of the reading
    if (delay_age_s := round(link.delay_age_s, 1)) != fields["age_s"]:
        fields["delay_age_s"] = delay_age_s
    if link.bandwidth is not None:
        fields["bandwidth_bytes_per_s"] = float(round(link.bandwidth.bytes_per_s))
        fields["bandwidth_age_s"] = round(link.bandwidth.age_s, 1)
    return fields


def site_of(content: bytes | None) -> str | None:
    """Read the site of a peer, None if its reading names none.

    Raises:
        ValueError: With the reason, if the content is no JSON object.
    """
    site = json_object(content).get("site")
    return site if isinstance(site, str) and site else None


def probe_address(content: bytes | None, *, loopback: bool = False) -> Address:
    """Read where a peer answers probes.

    Args:
        content: The znode's text; None if it never had any.
        loopback: Whether a loopback address is possible. Any other host would send to itself.

    Raises:
        ValueError: With the reason, if the content is not a reading of a version known here.
    """
    fields = json_object(content)
    if fields.get("version") != VERSION:
        raise ValueError(f"version {describe(fields.get('version'))} instead of {VERSION}")
    address = parse_address(fields.get("probe"))
    if is_loopback(address.host) and not loopback:
        raise ValueError(f"probe address {address} is of its own host alone")
    return address


def parse_address(text: object) -> Address:
    """Read `10.0.0.1:7091` or `[2001:db8::1]:7091`.

    Raises:
        ValueError: With the reason.
    """
    if not isinstance(text, str):
        # one kind of error for all bad content
        raise ValueError(f"probe address {describe(text)} is not text")  # noqa: TRY004 - see above
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    reason = fault(host)
    if reason:
        raise ValueError(f"host of probe address {describe(text)} {reason}")
    if not colon or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"probe address {describe(text)} has no port from 1 to 65535")
    return Address(host, int(port))
