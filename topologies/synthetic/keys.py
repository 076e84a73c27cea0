"""Names shared by submission, components and collector: Redis keys and configuration keys of one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from formats.address import Address
from topologies.run_id import check_run_id
from topologies.synthetic.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_KEY = "synthetic.redis"
"""Topology configuration: `HOST:PORT` of Redis, as seen from the workers of sinks."""

RUN_KEY = "synthetic.run"
"""Topology configuration: id of the run."""

WORKLOAD_KEY = "synthetic.workload"
"""Topology configuration: the workload, as `Workload.to_conf` returns it."""

FIELDS = ("n", "trail", "load")
"""Fields of every tuple: number in its source's stream (1 or more: measured), trail, padding.

The end marker of a stream has an empty trail; its load are the totals of what lies before.
"""


def stream_id(stream: int) -> str:
    """Return Storm's id of a stream, by its number in the workload."""
    return f"s{stream}"


def stream_number(identity: str) -> int:
    """Return a stream's number in the workload, by its id."""
    return int(identity[1:])


@dataclass(frozen=True, slots=True)
class SyntheticRun:
    """One run of a synthetic topology.

    Raises:
        ValueError: As `check_run_id`.
    """

    id: str

    def __post_init__(self) -> None:
        check_run_id(self.id)

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
