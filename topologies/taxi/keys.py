"""Names shared by topology, feeder and collector: Redis keys and configuration keys of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from topologies.address import Address

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_KEY = "taxi.redis"
"""Topology configuration: `HOST:PORT` of Redis, as seen from the workers."""

RUN_KEY = "taxi.run"
"""Topology configuration: id of the run."""

REPLAY_KEY = "taxi.replay"
"""Topology configuration: whether rows that fail come again (Storm's acking), true or false (default)."""

REPLAYED = "replayed"
"""Tally of the source, with replay: emits of rows that were read before."""

LIFE_BITS = 32
"""With replay the number of an emit holds the source's life above so many bits; the first life is 0."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of rows through the topology; all of its Redis keys start with `taxi:<id>:`.

    Raises:
        ValueError: The id is not made of letters, digits, `.`, `_` and `-`, at most 64 of them.
    """

    id: str

    def __post_init__(self) -> None:
        if not _RUN_ID.fullmatch(self.id):
            msg = f"run {self.id!r} must be 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"
            raise ValueError(msg)

    @property
    def rows(self) -> str:
        """Stream of rows, written by the feeder."""
        return f"taxi:{self.id}:rows"

    @property
    def results(self) -> str:
        """Stream of results, written by globalRank."""
        return f"taxi:{self.id}:results"

    @property
    def source(self) -> str:
        """Hash of the source's tallies, with replay: `began`, `replayed`."""
        return f"taxi:{self.id}:source"

    @property
    def feed(self) -> str:
        """Hash with how the rows were fed."""
        return f"taxi:{self.id}:feed"


def replays(conf: Mapping[str, object]) -> bool:
    """Return whether a topology's configuration asks for replay.

    Raises:
        ValueError: The value is neither true nor false.
    """
    value = conf.get(REPLAY_KEY, False)
    if not isinstance(value, bool):
        msg = f"topology configuration: {REPLAY_KEY} is {value!r}, it must be true or false"
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for bad configuration
    return value


@dataclass(frozen=True, slots=True)
class TaxiSettings:
    """What the components at both ends need to know."""

    redis: Address
    run: Run

    @classmethod
    def from_conf(cls, conf: Mapping[str, object]) -> Self:
        """Read the topology's configuration.

        Raises:
            ValueError: A key is missing or wrong.
        """
        values = {}
        for key in (REDIS_KEY, RUN_KEY):
            value = conf.get(key)
            if not isinstance(value, str):
                msg = f"topology configuration: {key} is {value!r}, it must be a string"
                raise ValueError(msg)  # noqa: TRY004 - one kind of error for bad configuration
            values[key] = value
        return cls(Address.parse(values[REDIS_KEY]), Run(values[RUN_KEY]))
