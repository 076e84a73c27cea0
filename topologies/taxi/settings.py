"""The topology's configuration as the components read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from formats.address import Address
from topologies.taxi.keys import QUERIES, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_KEY = "taxi.redis"
"""Topology configuration: `HOST:PORT` of Redis, as seen from the workers."""

RUN_KEY = "taxi.run"
"""Topology configuration: id of the run."""

QUERIES_KEY = "taxi.queries"
"""Topology configuration: the queries that the topology answers: `1`, `2` or `1,2`."""

SHARES_KEY = "taxi.shares"
"""Topology configuration: parts into which routes, taxis and areas are divided, each with one task."""

AHEAD_KEY = "taxi.ahead"
"""Topology configuration: most rows that the source has under way beyond the last one that is done."""

STALL_KEY = "taxi.stall.seconds"
"""Topology configuration: without progress for so long the source begins a new epoch."""


@dataclass(frozen=True, slots=True)
class TaxiSettings:
    """What the components need to know.

    Attributes:
        redis: Redis as the workers see it.
        run: The run.
        queries: The queries that the topology answers.
        shares: Parts into which keys are divided.
        ahead: Most rows under way beyond the last one that is done.
        stall_s: Time without progress after which a new epoch begins, seconds.
    """

    redis: Address
    run: Run
    queries: tuple[str, ...] = ("1",)
    shares: int = 1
    ahead: int = 20_000
    stall_s: float = 5.0

    @classmethod
    def from_conf(cls, conf: Mapping[str, object]) -> Self:
        """Read the topology's configuration.

        Raises:
            ValueError: A key is missing or wrong.
        """
        return cls(
            Address.parse(_text(conf, REDIS_KEY)),
            Run(_text(conf, RUN_KEY)),
            queries_of(conf),
            shares_of(conf),
            int(_number(conf, AHEAD_KEY, 20_000, least=1)),
            _number(conf, STALL_KEY, 5, least=0.1),
        )


def queries_of(conf: Mapping[str, object]) -> tuple[str, ...]:
    """Return the queries that a topology answers.

    Raises:
        ValueError: The value names no query, another one, or one twice.
    """
    queries = tuple(str(conf.get(QUERIES_KEY, "1")).split(","))
    if not queries or not set(queries) <= set(QUERIES) or len(set(queries)) < len(queries):
        msg = f"topology configuration: {QUERIES_KEY} is {conf[QUERIES_KEY]!r}, it must be 1, 2 or 1,2"
        raise ValueError(msg)
    return queries


def shares_of(conf: Mapping[str, object]) -> int:
    """Return the number of shares.

    Raises:
        ValueError: It is no whole number above 0.
    """
    return int(_number(conf, SHARES_KEY, 1, least=1))


def _text(conf: Mapping[str, object], key: str) -> str:
    value = conf.get(key)
    if not isinstance(value, str):
        msg = f"topology configuration: {key} is {value!r}, it must be a string"
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for bad configuration
    return value


def _number(conf: Mapping[str, object], key: str, default: int, least: float) -> float:
    value = conf.get(key, default)
    kinds = (int, float) if isinstance(least, float) else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds) or cast("float", value) < least:
        kind = "a number" if isinstance(least, float) else "a whole number"
        msg = f"topology configuration: {key} is {value!r}, it must be {kind} of at least {least:g}"
        raise ValueError(msg)
    return cast("float", value)
