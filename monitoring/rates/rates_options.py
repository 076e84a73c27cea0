"""Settings of the rates collector, checked once and all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.address import Address
from monitoring.option_forms import is_endpoint, is_path
from monitoring.rates.week_file import foreign

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.zookeeper.access import ZookeeperAuth


class CollectorError(Exception):
    """The collector cannot run with these options; one sentence."""


@dataclass(frozen=True, slots=True)
class CollectorOptions:
    """The settings of a rates collector.

    Attributes:
        nimbus: `HOST:PORT` of Nimbus' Thrift service, several separated by commas.
        zookeeper: `HOST:PORT`, several separated by commas.
        root: Path in ZooKeeper under which readings live.
        interval_s: Time between two looks, s.
        window_s: Length of the window over which rates are taken, s.
        auth: Credentials for ZooKeeper, None for an open one.
        state: File that keeps what is usual at each hour of the week; None: nothing is known of that.
    """

    nimbus: str
    zookeeper: str
    root: str = "/stormplace"
    interval_s: float = 10.0
    window_s: float = 60.0
    auth: ZookeeperAuth | None = None
    state: Path | None = None

    def check(self) -> None:
        """Refuse settings that cannot work.

        Raises:
            CollectorError: Naming every bad option.
        """
        faults = tuple(self._faults())
        if faults:
            raise CollectorError("; ".join(faults))

    def _faults(self) -> Iterator[str]:
        for option, endpoints in (("--nimbus", self.nimbus), ("--zookeeper", self.zookeeper)):
            for endpoint in endpoints.split(","):
                if not is_endpoint(endpoint):
                    yield f"{option} {endpoint!r} is not HOST:PORT"
        if not is_path(self.root):
            yield f"--root {self.root!r} is not a path such as /stormplace"
        if not 1 <= self.interval_s <= 60:
            yield f"--interval-s {self.interval_s:g} is not from 1 to 60"
        if not 20 <= self.window_s <= 600:
            yield f"--window-s {self.window_s:g} is not from 20 to 600"
        if self.state is not None and (reason := foreign(self.state)):
            yield f"--state {str(self.state)!r} {reason}"

    def nimbus_addresses(self) -> tuple[Address, ...]:
        """Return the addresses of `nimbus`; call `check` before."""
        return tuple(
            Address(host.strip("[]"), int(port))
            for host, _, port in (endpoint.rpartition(":") for endpoint in self.nimbus.split(","))
        )
