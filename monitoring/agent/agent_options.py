"""Settings of the agent, checked once and all at once."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.tier import TIERS
from monitoring.agent.bandwidth.bandwidth_meter import LEAST_SHARE
from monitoring.agent.state import foreign
from monitoring.ip_addresses import fault
from monitoring.option_forms import is_endpoint, is_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.zookeeper.access import ZookeeperAuth

LARGEST_SHARE = 0.1
"""Of a bandwidth that may be used to measure it."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?")


class AgentError(Exception):
    """The agent cannot run with these options; one sentence."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The settings of an agent.

    Attributes:
        host: Name of this host, as its supervisor calls it (storm.local.hostname).
        site: Name of its data centre.
        tier: One of `TIERS`.
        zookeeper: `HOST:PORT`, several separated by commas.
        root: Path in ZooKeeper under which readings live.
        bind: Numeric address on which probes are answered.
        advertise: Numeric address that is published for peers; found out if None.
        port: UDP port.
        interval_ms: Mean time between probes after the start-up phase, ms.
        state: File that keeps coordinate and availability over a restart.
        slot_ports: Ports of the supervisor's worker slots; None if they are not known.
        auth: Credentials for ZooKeeper; None if it is open.
        bandwidth_share: Of the least bandwidth, for trains that measure it; None: none are sent.
    """

    host: str
    zookeeper: str
    site: str | None = None
    root: str = "/stormplace"
    bind: str = "0.0.0.0"  # noqa: S104 - peers are on other hosts; answers cost no more than their probes
    advertise: str | None = None
    port: int = 7091
    interval_ms: float = 1000.0
    state: Path | None = None
    slot_ports: tuple[int, ...] | None = None
    auth: ZookeeperAuth | None = None
    tier: str | None = None
    bandwidth_share: float | None = None

    def check(self) -> None:
        """Refuse settings that cannot work.

        Raises:
            AgentError: Naming every bad option.
        """
        faults = (*self._name_faults(), *self._address_faults(), *self._other_faults())
        if faults:
            raise AgentError("; ".join(faults))

    def _name_faults(self) -> Iterator[str]:
        if not _NAME.fullmatch(self.host):
            yield f"--host {self.host!r} is not a host name"
        if self.site is not None and not _NAME.fullmatch(self.site):
            yield f"--site {self.site!r} is not a name of letters, digits, '.', '_' and '-'"
        if self.tier is not None and self.tier not in TIERS:
            yield f"--tier {self.tier!r} is none of {', '.join(TIERS)}"
        if not is_path(self.root):
            yield f"--root {self.root!r} is not a path such as /stormplace"

    def _address_faults(self) -> Iterator[str]:
        for endpoint in self.zookeeper.split(","):
            if not is_endpoint(endpoint):
                yield f"--zookeeper {endpoint!r} is not HOST:PORT"
        for option, address in (("--bind", self.bind), ("--advertise", self.advertise)):
            if address is not None and not _is_ip(address):
                yield f"{option} {address!r} is not a numeric IP address"
        if self.advertise is not None and _is_ip(self.advertise) and fault(self.advertise):
            yield f"--advertise {self.advertise!r} is no address that peers can send to"

    def _other_faults(self) -> Iterator[str]:
        for slot_port in self.slot_ports or ():
            if not 0 < slot_port < 65536:
                yield f"--slot-ports {slot_port} is not from 1 to 65535"
        if not 0 < self.port < 65536:
            yield f"--port {self.port} is not from 1 to 65535"
        if not 10 <= self.interval_ms <= 60_000:
            yield f"--interval-ms {self.interval_ms:g} is not from 10 to 60000"
        if self.bandwidth_share is not None:
            yield from self._share_faults(self.bandwidth_share)
        if self.state is not None and (reason := foreign(self.state)):
            yield f"--state {str(self.state)!r} {reason}"

    def _share_faults(self, share: float) -> Iterator[str]:
        if not LEAST_SHARE <= share <= LARGEST_SHARE:
            yield f"--bandwidth-share {share:g} is not from {LEAST_SHARE:g} to {LARGEST_SHARE:g}"
        if self.site is None:
            yield "--bandwidth-share needs --site: bandwidth is measured to other sites"


def advertised_address(options: AgentOptions) -> str:
    """Return the address that peers shall probe.

    It is `--advertise`, else a `--bind` that names one interface, else this host's own address on the route
    to ZooKeeper (found by connecting a UDP socket, which sends nothing).

    Raises:
        AgentError: If there is no such route.
    """
    if options.advertise is not None:
        return options.advertise
    if not _is_wildcard(options.bind):
        return options.bind
    host, _, port = options.zookeeper.split(",")[0].rpartition(":")
    family = socket.AF_INET6 if ":" in options.bind else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host.strip("[]"), int(port)))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise AgentError(
            f"cannot find this host's address from the route to --zookeeper {host} ({error}): "
            "give it with --advertise"
        ) from error


def parse_ports(text: str) -> tuple[int, ...]:
    """Read ports separated by commas, such as `6700,6701`.

    Raises:
        AgentError: Naming the first part that is not a number.
    """
    for part in text.split(","):
        if not (part.isascii() and part.isdigit()):
            raise AgentError(f"--slot-ports {text!r}: {part!r} is not a port")
    return tuple(sorted({int(part) for part in text.split(",")}))


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_wildcard(address: str) -> bool:
    return ipaddress.ip_address(address).is_unspecified
