"""The two ends of a sleeping topology, which are in Redis; what is between them is `SleepingBolt.java`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from redis import Redis

from formats.address import Address
from topologies.component import HardenedBolt, HardenedSpout
from topologies.moments import now_us
from topologies.sleeping.configuration import REDIS_KEY, SleepingRun

if TYPE_CHECKING:
    from pystorm.component import Tuple

_WAIT_S = 0.02
"""Acknowledgements come between two calls: a call that finds nothing waits no longer than that."""
_LOOK_EVERY_S = 10.0
_TIMEOUT_S = 10.0


def _client(conf: dict[str, Any]) -> Redis:
    address = Address.parse(str(conf[REDIS_KEY]))
    return Redis(
        address.host,
        address.port,
        socket_timeout=_TIMEOUT_S,
        socket_connect_timeout=_TIMEOUT_S,
        decode_responses=True,
    )


class Source(HardenedSpout):
    """Takes items from a list and keeps them in another one until they are acknowledged: none is ever lost.

    What an instance that has ended had taken is sent again, at once when the next one begins. What is taken
    without being sent (an answer of Redis that was lost, or an instance that ended later than the next one
    began) is seen by looking twice.
    """

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Connect to Redis."""
        self._redis = _client(storm_conf)
        self._keys = SleepingRun.from_conf(storm_conf)
        self._open: set[str] = set()
        self._stray: set[str] | None = None
        self._look_s = 0.0

    def next_tuple(self) -> None:
        """Send the next item, and what strays."""
        if time.monotonic() >= self._look_s:
            self._take_strays()
            self._look_s = time.monotonic() + _LOOK_EVERY_S
        item = self._redis.blmove(self._keys.waiting, self._keys.taken, _WAIT_S)  # type: ignore[arg-type]  # since Redis 6
        if item is not None:
            self._send(str(item))

    def ack(self, tup_id: str) -> None:
        """Remove an item that has come to the sink."""
        self._redis.lrem(self._keys.taken, 1, tup_id)
        self._open.discard(tup_id)

    def fail(self, tup_id: str) -> None:
        """Send an item again."""
        if tup_id in self._open:
            self._send(tup_id)

    def _take_strays(self) -> None:
        stray = set(map(str, self._redis.lrange(self._keys.taken, 0, -1))) - self._open
        again = stray if self._stray is None else stray & self._stray
        for item in sorted(again, key=lambda text: int(text.partition(":")[0])):
            self._send(item)
        self._stray = stray - again

    def _send(self, item: str) -> None:
        self._open.add(item)
        self.emit([item], tup_id=item)


class Sink(HardenedBolt):
    """Notes when items come; the tuple is acknowledged once Redis has the note."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Connect to Redis."""
        self._redis = _client(storm_conf)
        self._keys = SleepingRun.from_conf(storm_conf)

    def process(self, tup: Tuple) -> None:
        """Note an item."""
        self._redis.xadd(self._keys.arrived, {"item": tup.values[0], "us": now_us()})
