"""Reads from ZooKeeper who the peers are and where a sample of them is.

The cost does not grow with the square of the cluster: the list of names is read at a pace that falls with its
length, and addresses are read only of the peers in the pool.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from monitoring.reading import Address, probe_address, site_of
from monitoring.zookeeper.folder import Folder
from monitoring.zookeeper.peer_pool import PeerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from random import Random

    from formats.log import Log

_NAMES_PER_S = 50
"""Names read per second at most, while hosts come and go: a thousand agents that start together must not each
read a list of a thousand names a thousand times."""

RENEW_S = 30.0
"""Time between two exchanges of a peer of a full pool, s."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The peers at one time.

    Attributes:
        names: All peers that are published.
        addresses: Where the readable ones of the pool answer probes.
        sites: Sites of those that name one.
    """

    names: frozenset[str]
    addresses: Mapping[str, Address]
    sites: Mapping[str, str] = field(default_factory=dict)


class PeerList:
    """Follows the children of one znode; only the session's thread takes turns.

    Args:
        folder: The znode.
        host: Name of this host, which is not its own peer.
        pause_s: Least time between two looks at the list, s.
        rng: Source of the choice of peers.
        on_listing: Called with each new listing.
        log: Takes one line per unreadable peer.
        clock_s: A clock that does not go back, in s.
        loopback: Whether peers may be at loopback addresses, which this host's own agents can publish alone.
    """

    def __init__(
        self,
        *,
        folder: str,
        host: str,
        pause_s: float,
        rng: Random,
        on_listing: Callable[[Listing], None],
        log: Log,
        clock_s: Callable[[], float] = time.monotonic,
        loopback: bool = False,
    ) -> None:
        self._folder = Folder(folder, "peer", log, "peer-unreadable")
        self._host = host
        self._pause_s = pause_s
        self._on_listing = on_listing
        self._clock_s = clock_s
        self._loopback = loopback
        self._pool = PeerPool(rng)
        self._lock = threading.Lock()
        self._due = False
        self._look_after_s = clock_s()
        self._renew_at_s = clock_s() + RENEW_S
        self._suspect: set[str] = set()
        self._names: frozenset[str] = frozenset()
        self._addresses: dict[str, Address] = {}
        self._sites: dict[str, str | None] = {}
        self._reported = Listing(frozenset(), {})
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something to do in the next turn."""

    @property
    def unreadable(self) -> int:
        """Looks at readings of peers, or at their list, that could not be read."""
        return self._folder.unreadable

    def look_soon(self) -> None:
        """Have the list read; watches may have been missed while there was no connection."""
        with self._lock:
            self._due = True

    def refresh(self, peer: str) -> None:
        """Have one peer's address read again."""
        with self._lock:
            self._suspect.add(peer)

    def favour(self, partners: Iterable[str]) -> None:
        """Keep these peers in the pool."""
        self._pool.favour(partners)

    def take_turn(self, client: Any) -> None:
        """Do what is due.

        Raises:
            KazooException: Whatever ZooKeeper answers or the connection suffers; repeated in the next turn.
        """
        now_s = self._clock_s()
        if self._due and now_s >= self._look_after_s:
            self._look(client)
            self._look_after_s = now_s + max(self._pause_s, len(self._names) / _NAMES_PER_S)
        if now_s >= self._renew_at_s:
            self._renew_at_s = now_s + RENEW_S
            self._pool.renew()
        self._resolve(client)
        sites = {peer: site for peer in self._addresses if (site := self._sites[peer]) is not None}
        listing = Listing(self._names, dict(self._addresses), sites)
        if listing != self._reported:
            self._reported = listing
            self._on_listing(listing)

    def _look(self, client: Any) -> None:
        with self._lock:
            self._due = False
        try:
            names = self._folder.names(client, self._changed)
        except NoNodeError:  # no agent has published yet; our own first write makes the folder
            self.look_soon()
            return
        except (KazooException, KazooTimeoutError):
            self.look_soon()
            raise
        if names is None:
            self.look_soon()
            return
        self._names = frozenset(names) - {self._host}
        with self._lock:
            self._suspect |= self._folder.faults.keys() & self._names  # they may have been mended meanwhile
        self._pool.update(self._names)

    def _resolve(self, client: Any) -> None:
        """Read the addresses of peers that are new in the pool or suspect; the others' are kept."""
        members = self._pool.members()
        self._addresses = {peer: at for peer, at in self._addresses.items() if peer in members}
        self._sites = {peer: site for peer, site in self._sites.items() if peer in members}
        self._folder.keep(members)
        with self._lock:
            suspects, self._suspect = self._suspect & members, set()
        unread = sorted((members - self._addresses.keys() - self._folder.faults.keys()) | suspects)
        replies = [(peer, self._folder.ask(client, peer)) for peer in unread]
        try:
            for peer, reply in replies:
                self._read(peer, reply)
        except (KazooException, KazooTimeoutError):
            with self._lock:
                self._suspect |= suspects
            raise

    def _read(self, peer: str, reply: Any) -> None:
        found = None
        try:
            found = self._folder.read(
                peer,
                reply,
                lambda content, _: (probe_address(content, loopback=self._loopback), site_of(content)),
            )
        except NoNodeError:  # gone: the next list will not have it
            self._folder.faults[peer] = ""
        if found is None:
            self._addresses.pop(peer, None)
        else:
            self._addresses[peer], self._sites[peer] = found

    def _changed(self, _event: Any) -> None:
        self.look_soon()
        self.on_change()
