"""Configuration of a run of a synthetic topology, as submissions write it and components read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from formats.address import Address
from topologies.run_id import NamedRun
from topologies.synthetic.workload import Workload

REDIS_KEY = "synthetic.redis"
"""Topology configuration: `HOST:PORT` of Redis, as seen from the workers of sinks."""

RUN_KEY = "synthetic.run"
"""Topology configuration: id of the run."""

WORKLOAD_KEY = "synthetic.workload"
"""Topology configuration: the workload, as `Workload.to_conf` returns it."""


SPEEDUPS_KEY = "synthetic.speedups"
"""Topology configuration: `{HOST: FACTOR}`, how many times as fast operators work there; 1 elsewhere."""

CPU_KEY = "synthetic.cpu.percent"
"""Topology configuration: `{COMPONENT: PERCENT}`, processor time that it asks for, 100 for a core."""

REPLAY_KEY = "synthetic.replay"
"""Topology configuration: whether Storm's acking guards tuples, so that sources send lost ones again."""


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
    speedups: Mapping[str, float]
    replay: bool

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
            amounts(conf, SPEEDUPS_KEY),
            is_replayed(conf),
        )


def amounts(conf: Mapping[str, object], key: str) -> dict[str, float]:
    """Return the amounts of a key by name: speed-ups by host, or percents by component.

    Raises:
        ValueError: The value is something else.
    """
    given = conf.get(key, {})
    if not isinstance(given, Mapping) or not all(map(_is_amount, given.values())):
        raise ValueError(f"{key}: expected {{NAME: NUMBER}} with numbers above 0, got {given!r}")
    return {str(name): float(amount) for name, amount in given.items()}


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 < value < math.inf


def is_replayed(conf: Mapping[str, object]) -> bool:
    """Return whether sources send again what Storm's acking calls lost.

    Raises:
        ValueError: The value is neither true nor false.
    """
    value = conf.get(REPLAY_KEY, False)
    if not isinstance(value, bool):
        raise ValueError(f"{REPLAY_KEY}: expected true or false, got {value!r}")  # noqa: TRY004 - as above
    return value
