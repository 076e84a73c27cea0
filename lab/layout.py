"""Hosts of a lab: names, addresses and the site each one stands at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from formats.site_file import OwnHost

if TYPE_CHECKING:
    from formats.site_file import SiteFile

NIMBUS = "nimbus"
STANDBY = "standby"
"""Host of the second Nimbus, where there is one."""
REDIS = "redis"
ZOOKEEPER_PORT = 2181
NIMBUS_PORT = 6627
SUPERVISOR_PORT = 6628
FIRST_SLOT_PORT = 6700
DAEMON_PORT = 7090
AGENT_PORT = 7091
REDIS_PORT = 6379


@dataclass(frozen=True)
class Host:
    """One network namespace with one address.

    Attributes:
        site_index: Position of its site in the site file.
        slots: Worker slots of its supervisor; 0 on the services' hosts.
        own: What the site file says of this host alone.
        tier: That of its site; empty: none is stated.
    """

    name: str
    kind: Literal["services", "supervisor"]
    site: str
    site_index: int
    address: str
    slots: int
    own: OwnHost = field(default=OwnHost(""), hash=False)
    tier: str = ""

    @property
    def slot_ports(self) -> tuple[int, ...]:
        """Ports of its supervisor's worker slots."""
        return tuple(FIRST_SLOT_PORT + slot for slot in range(self.slots))


def lay_out(sites: SiteFile) -> tuple[Host, ...]:
    """Return all hosts, the services' hosts first, each with an address 10.77.<site>.<host>."""
    services: list[Host] = []
    supervisors: list[Host] = []
    for index, site in enumerate(sites.site):
        prefix = f"10.77.{index + 1}"
        here = (
            *((NIMBUS, 250, site.services), (REDIS, 251, site.name == sites.redis)),
            (STANDBY, 252, site.services and sites.standby_nimbus),
        )
        services += [
            Host(name, "services", site.name, index, f"{prefix}.{last}", 0)
            for name, last, stands in here
            if stands
        ]
        supervisors += [
            Host(
                *(name, "supervisor", site.name, index, f"{prefix}.{n}"),
                slots=site.slots,
                own=sites.own(name),
                tier=site.tier,
            )
            for n in range(1, site.supervisors + 1)
            for name in (f"{site.name}-{n}",)
        ]
    return (*services, *supervisors)


def hosts_file(hosts: tuple[Host, ...]) -> str:
    """Return the text of the lab's private /etc/hosts."""
    lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}" for host in hosts)]
    return "\n".join(lines) + "\n"
