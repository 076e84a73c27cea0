"""The agent's side of ZooKeeper: one ephemeral znode of its own, and the list of all others."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from monitoring.ephemeral_node import REPLY_S
from monitoring.reading import Address, probe_address
from monitoring.session import Session, SessionOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.log import Log


@dataclass(frozen=True, slots=True)
class PublisherOptions:
    """Where and how to publish.

    Attributes:
        zookeeper: `HOST:PORT`, several separated by commas.
        root: Path under which `nodes` lives.
        host: Name of this host's znode.
        session_timeout_s: Silence after which ZooKeeper removes the znode, s.
        list_pause_s: Least time between two looks at the list of peers, s: a thousand agents that start
            together must not each read the list a thousand times.
        retry_s: Time until the next try when the znode is held by another session, s.
    """

    zookeeper: str
    root: str
    host: str
    session_timeout_s: float = 10.0
    list_pause_s: float = 1.0
    retry_s: float = 1.0


class Publisher:
    """Keeps this host's znode as told and reports the peers.

    Args:
        options: See `PublisherOptions`.
        on_peers: Called from the session's thread with all peers (this host excluded) after a change.
        log: Takes one line per change of state.
    """

    def __init__(
        self, options: PublisherOptions, on_peers: Callable[[Mapping[str, Address]], None], log: Log
    ) -> None:
        self._options = options
        self._on_peers = on_peers
        self._log = log
        self._nodes = f"{options.root}/nodes"
        self._path = f"{self._nodes}/{options.host}"
        session = SessionOptions(options.zookeeper, self._path, options.session_timeout_s, options.retry_s)
        self._session = Session(session, log, _REASONS, self._list_soon, self._list_if_due)
        self._lock = threading.Lock()
        self._list_due = False
        self._listed_at_s = -options.list_pause_s
        self._addresses: dict[str, Address] = {}
        self._suspect: set[str] = set()
        self._faults: dict[str, str] = {}

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._session.start()

    def publish(self, content: bytes) -> None:
        """Have the znode hold `content` soon; only the latest content counts."""
        self._session.hold(self._path, content)

    def refresh(self, peer: str) -> None:
        """Read a peer's address again: it does not answer where it was."""
        with self._lock:
            self._suspect.add(peer)
        self._list_soon()
        self._session.wake()

    def stop(self) -> None:
        """Close the session, which removes the znode. Blocks for seconds at most."""
        self._session.stop()

    def _list_soon(self) -> None:
        """Have the list read; watches may have been missed while there was no connection."""
        with self._lock:
            self._list_due = True

    def _list_if_due(self, client: Any) -> None:
        if self._list_due and time.monotonic() - self._listed_at_s >= self._options.list_pause_s:
            self._list_peers(client)

    def _list_peers(self, client: Any) -> None:
        with self._lock:
            self._list_due = False
            suspects, self._suspect = self._suspect, set()
        self._listed_at_s = time.monotonic()
        try:
            addresses = self._read_peers(client, suspects)
        except (KazooException, KazooTimeoutError) as error:
            with self._lock:
                self._list_due = True
                self._suspect |= suspects
            if isinstance(error, NoNodeError):
                return  # nobody has published yet; our own first write makes the folder
            raise
        if addresses != self._addresses:
            self._addresses = addresses
            self._on_peers(dict(addresses))

    def _read_peers(self, client: Any, suspects: set[str]) -> dict[str, Address]:
        """Read the addresses of peers that are new or suspect; the others' are kept."""
        children = client.get_children_async(self._nodes, watch=self._children_changed)
        listed = set(children.get(timeout=REPLY_S)) - {self._options.host}
        addresses = {peer: at for peer, at in self._addresses.items() if peer in listed}
        self._faults = {peer: fault for peer, fault in self._faults.items() if peer in listed}
        unread = sorted(peer for peer in listed if peer not in addresses or peer in suspects)
        replies = [(peer, client.get_async(f"{self._nodes}/{peer}")) for peer in unread]
        for peer, reply in replies:
            self._read_peer(peer, reply, addresses)
        return addresses

    def _read_peer(self, peer: str, reply: Any, addresses: dict[str, Address]) -> None:
        try:
            content, _ = reply.get(timeout=REPLY_S)
            addresses[peer] = probe_address(content)
        except NoNodeError:
            addresses.pop(peer, None)
        except ValueError as error:
            addresses.pop(peer, None)
            if self._faults.get(peer) != str(error):
                self._faults[peer] = str(error)
                self._log.warning("peer-unreadable", peer=peer, reason=str(error))

    def _children_changed(self, _event: Any) -> None:
        self._list_soon()
        self._session.wake()


_REASONS: Mapping[str, str] = {
    "suspended": "connection lost; known peers are still probed, the reading is written again on return",
    "held": "the znode belongs to another session: a former run's until it expires, or a second agent's with "
    "the same --host; waiting until it is gone",
}
