"""A connection to ZooKeeper that is kept up whatever happens, and a thread that works on it in turns.

Loss of ZooKeeper is a normal state: the client reconnects by itself, and what is published is written again
as soon as a session stands. Each change of state is logged once, those of znodes apart from the session's.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NoAuthError, NoNodeError

from formats.packed_content import pack
from monitoring.zookeeper.access import open_to_all
from monitoring.zookeeper.held_nodes import HeldNodes
from monitoring.zookeeper.replies import CONNECTION_TROUBLE, REPLY_S
from monitoring.zookeeper.session_figures import SessionFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.log import Log
    from monitoring.zookeeper.access import ZookeeperAuth


class Session:
    """Keeps a session with ZooKeeper, and ephemeral znodes up to date.

    Args:
        zookeeper: `HOST:PORT`, several separated by commas.
        path: What is published, for the log.
        log: Takes one line per change of state.
        auth: Credentials, None for an open ZooKeeper.
        session_timeout_s: Silence after which ZooKeeper ends the session and removes its ephemeral znodes, s.
        retry_s: Longest time between two turns, s.
        reasons: Words for states (`suspended`, `lost`, `held`, `unreachable`) that fit the caller better.
        on_connected: Called when the session stands (again): watches may have been missed meanwhile. Called
            from a thread of the client, which must not be held up.
        on_turn: Called in each turn, after the znodes were written, with the connected client. It may raise
            whatever ZooKeeper answers: that is logged once per connection, and the next turn comes anyway.
        on_fault: Called when the thread ends by a fault of its own, with a traceback on standard error:
            nothing is published any more then, so the process should end too.
    """

    def __init__(
        self,
        zookeeper: str,
        path: str,
        log: Log,
        *,
        auth: ZookeeperAuth | None = None,
        session_timeout_s: float = 10.0,
        retry_s: float = 1.0,
        reasons: Mapping[str, str] | None = None,
        on_connected: Callable[[], None] = lambda: None,
        on_turn: Callable[[Any], None] = lambda _client: None,
        on_fault: Callable[[], None] = lambda: None,
    ) -> None:
        self._zookeeper = zookeeper
        self._path = path
        self._log = log
        self._auth = auth
        self._session_timeout_s = session_timeout_s
        self._retry_s = retry_s
        self._reasons = {**_REASONS, **(reasons or {})}
        self._on_connected = on_connected
        self._on_turn = on_turn
        self._on_fault = on_fault
        self._client = self._new_client()
        self._suspended_at_s = math.inf
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = False
        self._nodes = HeldNodes()
        self._checked_access = auth is None
        self._state = ""
        self._turn_trouble = ""
        self._thread = threading.Thread(target=self._work, name="zookeeper", daemon=True)
        self._changes: Counter[str] = Counter()
        self._writes = 0
        self._written_s = math.nan

    def _new_client(self) -> Any:
        # a private logger: the client warns at every retry, we log each change of state once
        quiet = logging.Logger("kazoo", logging.CRITICAL + 1)
        client = KazooClient(
            hosts=self._zookeeper,
            timeout=self._session_timeout_s,
            connection_retry={"max_tries": -1, "delay": 0.2, "backoff": 2, "max_delay": 5.0},
            logger=quiet,
            **(self._auth.client_arguments() if self._auth else {}),
        )
        client.add_listener(self._session_changed)
        return client

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._client.start_async()
        self._thread.start()

    def hold(self, path: str, content: bytes) -> None:
        """Have an ephemeral znode hold a JSON text soon, packed if it is large; only the latest counts."""
        self._nodes.hold(path, pack(content))
        self._wake.set()

    def release(self, path: str) -> None:
        """Have an ephemeral znode of ours removed soon."""
        self._nodes.release(path)
        self._wake.set()

    def wake(self) -> None:
        """Have the next turn taken soon."""
        self._wake.set()

    def figures(self) -> SessionFigures:
        """Return what was counted so far; may be called from any thread."""
        return SessionFigures(dict(self._changes), self._writes, time.monotonic() - self._written_s)

    def stop(self) -> None:
        """Close the session, which removes its ephemeral znodes. Blocks for seconds at most."""
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout=REPLY_S)
        self._client.stop()
        self._client.close()

    def _turn_to(self, state: str) -> None:
        """Log a change of the session's state, each once."""
        with self._lock:
            if state == self._state:
                return
            self._state = state
        self._log_state(state, path=self._path)

    def _log_state(self, state: str, reason: str = "", **place: str) -> None:
        """Log that a state began, of the session or of a znode; one with a reason is a warning."""
        with self._lock:
            if self._stopping:
                return
            self._changes[state] += 1
        reason = reason or self._reasons.get(state, "")
        fields = {"zookeeper": self._zookeeper, **place}
        if reason:
            self._log.warning(f"zookeeper-{state}", **fields, reason=reason)
        else:
            self._log.info(f"zookeeper-{state}", **fields)

    def _session_changed(self, state: str) -> None:
        """Follow the session (called from a thread of the client, which must not be held up)."""
        if state == KazooState.CONNECTED:
            with self._lock:
                self._suspended_at_s = math.inf
                self._turn_trouble = ""
            self._nodes.connected()
            self._on_connected()
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
            self._suspended_at_s = math.inf
        self._nodes.session_over()
        self._turn_to("lost")

    def _renew_client(self) -> None:
        """Give up a session that must have expired by now, and begin a new one.

        The client would go on with the old one for ever if ZooKeeper had come back without its data: a
        server refuses a client that has seen transactions which it has not.
        """
        former = self._client
        former.remove_listener(self._session_changed)
        former.stop()
        former.close()
        self._session_over()
        self._client = self._new_client()
        self._client.start_async()

    def _work(self) -> None:
        try:
            self._take_turns()
        finally:
            if not self._stopping:
                self._on_fault()

    def _take_turns(self) -> None:
        timeout_s = self._session_timeout_s
        started_s = time.monotonic()
        while not self._stopping:
            self._wake.wait(self._retry_s)
            self._wake.clear()
            try:
                if self._client.connected:
                    self._take_turn(self._client)
                elif time.monotonic() - self._suspended_at_s > timeout_s:
                    self._renew_client()
                elif not self._state and time.monotonic() - started_s > timeout_s:
                    self._turn_to("unreachable")
            except CONNECTION_TROUBLE:
                continue
            except KazooException as error:
                reason = f"a look at what others publish: {type(error).__name__}: {error}"
                with self._lock:
                    known, self._turn_trouble = self._turn_trouble == reason, reason
                if not known:
                    self._log_state("refusing", reason)

    def _take_turn(self, client: Any) -> None:
        for news in self._nodes.take_turn(client):
            if news.state != "publishing":
                self._log_state(news.state, news.reason, path=news.path)
                continue
            self._writes += 1
            self._written_s = time.monotonic()
            if news.mended:
                with self._lock:
                    self._state = news.state
                self._log_state(news.state, path=news.path)
            else:
                self._turn_to(news.state)
            if not self._checked_access:
                self._check_access(client, news.path)
        self._on_turn(client)

    def _check_access(self, client: Any, path: str) -> None:
        """Log once that the folder of our znodes, made by another client, is open to every user."""
        folder = path.rpartition("/")[0]
        try:
            is_open = open_to_all(client, folder, REPLY_S)
        except (NoAuthError, NoNodeError):  # the list itself is closed to us, or the folder is gone
            is_open = False
        self._checked_access = True
        if is_open:
            self._log.warning(
                "zookeeper-open",
                path=folder,
                reason="made without credentials: every user may still remove readings from it, or add some",
            )


STATES = ("connected", "publishing", "unreachable", "suspended", "lost", "refusing", "held")
"""What the log may say of a session, the good ones first."""

_REASONS: Mapping[str, str] = {
    "unreachable": "no session yet; trying on",
    "suspended": "connection lost; work goes on without it, and what is published is written again on return",
    "lost": "session expired; znodes are made anew in the next session",
    "held": "the znode belongs to another session: a former run's until it expires, or a second one's with "
    "the same name; waiting until it is gone",
}
