"""What agents that are only znodes would read of ZooKeeper, at their pace.

Each looks up its partners by the agents' own `PartnerFinder`, and reads a random peer's reading as often as a
real agent exchanges a peer of its pool. Reads of a start (64 peers, the list of names) are left out.
"""

from __future__ import annotations

import contextlib
import random
import time
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException

from formats.log import Log
from monitoring.zookeeper.partners import PartnerFinder
from monitoring.zookeeper.peer_list import RENEW_S
from monitoring.zookeeper.publisher import PublisherOptions
from monitoring.zookeeper.replies import REPLY_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.synchronize import Event

TURN_S = 1.0
"""Time between two turns, as long as an idle agent's."""


class CountedReads:
    """A client of ZooKeeper that counts the bytes of znodes which it reads.

    Args:
        client: Connected.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.bytes = 0

    def get_async(self, path: str) -> Any:
        """Read a znode."""
        reply = self._client.get_async(path)
        reply.rawlink(self._count)
        return reply

    def _count(self, reply: Any) -> None:
        with contextlib.suppress(KazooException):
            self.bytes += len(reply.get()[0])


class AgentReads:
    """Reads for many agents; only one thread takes turns.

    Agents begin one after the other, so that their reads are as evenly spread as those of agents that have
    run for long.

    Args:
        partners_client: With it partners are read.
        peers_client: With it peers are read.
        root: Path of the readings.
        readers: Hosts that read.
        hosts: All hosts.
        clock_s: A clock that does not go back, in s.
    """

    def __init__(
        self,
        partners_client: Any,
        peers_client: Any,
        *,
        root: str,
        readers: Sequence[str],
        hosts: Sequence[str],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._partners_client = partners_client
        self._peers_client = peers_client
        self._root = root
        self._readers = readers
        self._hosts = hosts
        self._clock_s = clock_s
        self._rng = random.Random(0)
        self._pause_s = PublisherOptions("", root, "").partners_pause_s
        self._finders: list[PartnerFinder] = []
        self._peers_read = 0
        self._began_s = clock_s()

    def take_turn(self) -> None:
        """Read what is due."""
        passed_s = self._clock_s() - self._began_s
        begun = min(len(self._readers), int(passed_s / self._pause_s * len(self._readers)))
        for host in self._readers[len(self._finders) : begun]:
            self._finders.append(self._finder(host))
        for finder in self._finders:
            finder.take_turn(self._partners_client)
        due = int(passed_s / RENEW_S * len(self._readers))
        replies = [
            self._peers_client.get_async(f"{self._root}/nodes/{self._rng.choice(self._hosts)}")
            for _ in range(due - self._peers_read)
        ]
        self._peers_read = due
        for reply in replies:
            reply.wait(timeout=REPLY_S)  # a host that is gone costs a request, too

    def _finder(self, host: str) -> PartnerFinder:
        return PartnerFinder(
            folder=f"{self._root}/partners",
            host=host,
            pause_s=self._pause_s,
            rng=random.Random(host),
            on_partners=lambda _partners: None,
            log=Log("error"),
            clock_s=self._clock_s,
        )


def read_in_turns(reads: AgentReads, after_turn: Callable[[], None], stop: Event) -> None:
    """Take turns until `stop` is set, and call `after_turn` after each."""
    while not stop.wait(TURN_S):
        reads.take_turn()
        after_turn()
