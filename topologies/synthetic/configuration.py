"""Configuration of a run of a synthetic topology, as submissions write it and components read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from formats.address import Address
from topologies.run_id import NamedRun
from topologies.synthetic.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_KEY = "synthetic.redis"
"""Topology configuration: `HOST:PORT` of Redis, as seen from the workers of sinks."""

RUN_KEY = "synthetic.run"
"""Topology configuration: id of the run."""

WORKLOAD_KEY = "synthetic.workload"
"""Topology configuration: the workload, as `Workload.to_conf` returns it."""


@dataclass(frozen=True, slots=True)
class SyntheticRun(NamedRun):
    """One run of a synthetic topology."""

    @property
    def arrivals(self) -> str:
        """Redis stream of what sinks took."""
        return f"synthetic:{self.id}:arrivals"


@dataclass(frozen=True, slots=True)
class SyntheticSettings:
    """What components read from the configuration."""

    redis: Address
    run: SyntheticRun
    workload: Workload

    @classmethod
    def from_conf(cls, conf: Mapping[str, object]) -> Self:
        """Read the topology's configuration.

        Raises:
            ValueError: A key is missing or wrong.
        """
        return cls(
            Address.parse(str(conf.get(REDIS_KEY))),
            SyntheticRun(str(conf.get(RUN_KEY))),
            Workload.from_conf(conf.get(WORKLOAD_KEY)),
        )
