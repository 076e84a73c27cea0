"""Which hosts exchange most tuples with which: the JSON objects of the znodes `<root>/partners/<shard>`.

The rates collector works them out from all topologies, and each agent reads the one that holds its host: had
every agent to read the rates of every topology, ZooKeeper's load would grow with agents times topologies. A
shard holds many hosts, since each znode of a waiting second collector costs two requests per second. A reader
ignores keys that it does not know.
"""

from __future__ import annotations

import zlib
from typing import Literal

from typing_extensions import TypedDict  # as in the other readings

VERSION: Literal[1] = 1
LIFETIME_S = 180.0
"""The lifetime that the collector states."""
SHARDS = 64


class PartnersFields(TypedDict):
    """One shard.

    Attributes:
        version: `VERSION`.
        time: Unix time of the reading, s.
        lifetime_s: Age from which it counts as missing.
        partners: By host the hosts that exchange most tuples with it, busiest first.
    """

    version: Literal[1]
    time: float
    lifetime_s: float
    partners: dict[str, list[str]]


def shard_of(host: str) -> str:
    """Return the name of the znode that holds a host."""
    return f"{zlib.crc32(host.encode()) % SHARDS:02d}"
