"""The agent's side of ZooKeeper: one ephemeral znode of its own, and the list of all others.

A thread of its own talks to ZooKeeper, so that probes never wait for it. Loss of ZooKeeper is a normal state:
the client reconnects by itself, the last reading is written again as soon as a session stands.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NodeExistsError,
    NoNodeError,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

from monitoring.reading import Address, probe_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.log import Log

_REPLY_S = 10.0
"""Longest wait for one reply of ZooKeeper; its loss is told by the session, this only bounds the wait."""


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
        on_peers: Called from the publisher's thread with all peers (this host excluded) after a change.
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
        self._client = self._new_client()
        self._suspended_at_s = math.inf
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = False
        self._content: bytes | None = None
        self._written: bytes | None = None
        self._owner = False
        self._list_due = False
        self._listed_at_s = -options.list_pause_s
        self._addresses: dict[str, Address] = {}
        self._suspect: set[str] = set()
        self._faults: dict[str, str] = {}
        self._state = ""
        self._thread = threading.Thread(target=self._work, name="publisher", daemon=True)

    def _new_client(self) -> Any:
        # a private logger: the client warns at every retry, the agent tells each change of state once
        quiet = logging.Logger("kazoo", logging.CRITICAL + 1)
        client = KazooClient(
            hosts=self._options.zookeeper,
            timeout=self._options.session_timeout_s,
            connection_retry={"max_tries": -1, "delay": 0.2, "backoff": 2, "max_delay": 5.0},
            logger=quiet,
        )
        client.add_listener(self._session_changed)
        return client

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._client.start_async()
        self._thread.start()

    def publish(self, content: bytes) -> None:
        """Have the znode hold `content` soon; only the latest content counts."""
        with self._lock:
            self._content = content
        self._wake.set()

    def refresh(self, peer: str) -> None:
        """Read a peer's address again: it does not answer where it was."""
        with self._lock:
            self._suspect.add(peer)
            self._list_due = True
        self._wake.set()

    def stop(self) -> None:
        """Close the session, which removes the znode. Blocks for seconds at most."""
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout=_REPLY_S)
        self._client.stop()
        self._client.close()

    def _session_changed(self, state: str) -> None:
        """Follow the session (called from a thread of the client, which must not be held up)."""
        if state == KazooState.CONNECTED:
            with self._lock:
                self._suspended_at_s = math.inf
                self._written = None  # a write under way when the connection broke may or may not count
                self._list_due = True  # and watches may have been missed
            self._turn_to("connected")
        elif state == KazooState.SUSPENDED:
            with self._lock:
                self._suspended_at_s = time.monotonic()
            self._turn_to("suspended")
        else:
            self._session_over()
        self._wake.set()

    def _session_over(self) -> None:
        with self._lock:
            self._owner = False
            self._suspended_at_s = math.inf
        self._turn_to("lost")

    def _renew_client(self) -> None:
        """Give up a session that must have expired by now, and begin a new one.

        The client would go on with the old one for ever if ZooKeeper had come back without its data: a
        server refuses whoever has seen transactions that it has not.
        """
        former = self._client
        former.remove_listener(self._session_changed)
        former.stop()
        former.close()
        self._session_over()
        self._client = self._new_client()
        self._client.start_async()

    def _work(self) -> None:
        timeout_s = self._options.session_timeout_s
        started_s = time.monotonic()
        while not self._stopping:
            self._wake.wait(self._options.retry_s)
            self._wake.clear()
            try:
                if self._client.connected:
                    self._take_turn()
                elif time.monotonic() - self._suspended_at_s > timeout_s:
                    self._renew_client()
                elif not self._state and time.monotonic() - started_s > timeout_s:
                    self._turn_to("unreachable")
            except _CONNECTION_TROUBLE:
                continue  # the session's own events tell it, and the next turn repeats what failed
            except KazooException as error:
                self._turn_to("refusing", reason=f"{type(error).__name__}: {error}")

    def _take_turn(self) -> None:
        with self._lock:
            content, written = self._content, self._written
        if content is not None and content != written:
            self._write(content)
        if self._list_due and time.monotonic() - self._listed_at_s >= self._options.list_pause_s:
            self._list_peers()

    def _write(self, content: bytes) -> None:
        """Set the znode, or create it; a foreign one is left alone until its session ends."""
        if self._owner:
            try:
                self._client.set_async(self._path, content).get(timeout=_REPLY_S)
            except NoNodeError:
                self._owner = False
        if not self._owner and not self._create(content):
            return
        with self._lock:
            self._written = content
        self._turn_to("publishing")

    def _create(self, content: bytes) -> bool:
        try:
            self._client.create_async(self._path, content, ephemeral=True, makepath=True).get(
                timeout=_REPLY_S
            )
        except NodeExistsError:
            stat = self._client.exists_async(self._path).get(timeout=_REPLY_S)
            session = self._client.client_id
            if stat is None or session is None:  # gone meanwhile: the next turn tries again
                return False
            if stat.ephemeralOwner != session[0]:
                self._turn_to("held")
                return False
            self._client.set_async(self._path, content).get(timeout=_REPLY_S)
        self._owner = True
        return True

    def _list_peers(self) -> None:
        with self._lock:
            self._list_due = False
            suspects, self._suspect = self._suspect, set()
        self._listed_at_s = time.monotonic()
        try:
            addresses = self._read_peers(suspects)
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

    def _read_peers(self, suspects: set[str]) -> dict[str, Address]:
        """Read the addresses of peers that are new or suspect; the others' are kept."""
        children = self._client.get_children_async(self._nodes, watch=self._children_changed)
        listed = set(children.get(timeout=_REPLY_S)) - {self._options.host}
        addresses = {peer: at for peer, at in self._addresses.items() if peer in listed}
        self._faults = {peer: fault for peer, fault in self._faults.items() if peer in listed}
        unread = sorted(peer for peer in listed if peer not in addresses or peer in suspects)
        replies = [(peer, self._client.get_async(f"{self._nodes}/{peer}")) for peer in unread]
        for peer, reply in replies:
            self._read_peer(peer, reply, addresses)
        return addresses

    def _read_peer(self, peer: str, reply: Any, addresses: dict[str, Address]) -> None:
        try:
            content, _ = reply.get(timeout=_REPLY_S)
            addresses[peer] = probe_address(content)
        except NoNodeError:
            addresses.pop(peer, None)
        except ValueError as error:
            addresses.pop(peer, None)
            if self._faults.get(peer) != str(error):
                self._faults[peer] = str(error)
                self._log.warning("peer-unreadable", peer=peer, reason=str(error))

    def _children_changed(self, _event: Any) -> None:
        with self._lock:
            self._list_due = True
        self._wake.set()

    def _turn_to(self, state: str, reason: str = "") -> None:
        """Log a change of state, each once."""
        with self._lock:
            if state == self._state or self._stopping:
                return
            self._state = state
        reason = reason or _REASONS.get(state, "")
        fields = {"zookeeper": self._options.zookeeper, "path": self._path}
        if reason:
            self._log.warning(f"zookeeper-{state}", **fields, reason=reason)
        else:
            self._log.info(f"zookeeper-{state}", **fields)


_CONNECTION_TROUBLE = (
    ConnectionLoss,
    ConnectionClosedError,
    OperationTimeoutError,
    SessionExpiredError,
    KazooTimeoutError,
)

_REASONS: Mapping[str, str] = {
    "unreachable": "no session yet; trying on",
    "suspended": "connection lost; known peers are still probed, the reading is written again on return",
    "lost": "session expired; the znode is made anew in the next session",
    "held": "the znode belongs to another session: a former run's until it expires, or a second agent's with "
    "the same --host; waiting until it is gone",
}
