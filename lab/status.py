"""The status of a lab, as its keeper reports it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

LabState = Literal["absent", "starting", "ready", "degraded", "stopping"]


@dataclass(frozen=True)
class ServiceStatus:
    """One supervised process.

    Attributes:
        state: `down` (not wanted), `running`, `stopping`, `waiting` (to start again) or `failed` (for good).
        pid: Process id inside the lab, or None.
        unexpected_ends: How often it ended by itself.
        last_end: How it ended the last time, or empty.
    """

    name: str
    host: str | None
    state: str
    pid: int | None
    unexpected_ends: int
    last_end: str


@dataclass(frozen=True)
class HostStatus:
    """One host.

    Attributes:
        pause_pid: Process id, inside the lab, of the process that holds the host's namespaces.
        slots: Worker slots as Nimbus counts them; None while Nimbus does not know the host.
        used_slots: Worker slots in use, or None.
        agent: Whether the monitoring agent has published a reading.
    """

    name: str
    kind: str
    site: str
    address: str
    pause_pid: int
    slots: int | None
    used_slots: int | None
    agent: bool


@dataclass(frozen=True)
class LabStatus:
    """The whole lab.

    Attributes:
        state: `absent` (not running), `starting`, `ready`, `degraded` (was ready once) or `stopping`.
        pending: What is missing until the lab is ready, in words.
        delays_ms: (site, site, one-way delay) of every pair of sites, and of each site with itself.
        isolated: Sites from and to which no packet passes.
        absent: Supervisor hosts that have not joined, or have left.
        packets: Packets forwarded so far, by fate.
        links: (name, bytes, packets dropped before it) so far, of each site's uplink and each limited link.
    """

    state: LabState
    scheduler: str = ""
    pending: tuple[str, ...] = ()
    services: tuple[ServiceStatus, ...] = ()
    hosts: tuple[HostStatus, ...] = ()
    delays_ms: tuple[tuple[str, str, float], ...] = ()
    isolated: tuple[str, ...] = ()
    packets: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, int, int], ...] = ()
    absent: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LabStatus:
        """Read what `to_json` returned, after a journey as JSON."""
        return cls(
            state=content["state"],
            scheduler=content["scheduler"],
            pending=tuple(content["pending"]),
            services=tuple(ServiceStatus(**service) for service in content["services"]),
            hosts=tuple(HostStatus(**host) for host in content["hosts"]),
            delays_ms=tuple((a, b, delay_ms) for a, b, delay_ms in content["delays_ms"]),
            isolated=tuple(content["isolated"]),
            packets=tuple((fate, count) for fate, count in content["packets"]),
            links=tuple((name, size, dropped) for name, size, dropped in content["links"]),
            absent=tuple(content["absent"]),
        )

    def host(self, name: str) -> HostStatus | None:
        """Return a host by name, or None."""
        return next((host for host in self.hosts if host.name == name), None)
