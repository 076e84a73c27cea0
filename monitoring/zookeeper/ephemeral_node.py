"""Keeps one ephemeral znode at the latest content that was handed in."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    NodeExistsError,
    NoNodeError,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

REPLY_S = 10.0
"""Longest wait for one reply of ZooKeeper; the session reports its loss, this only bounds the wait."""

CONNECTION_TROUBLE = (
    ConnectionLoss,
    ConnectionClosedError,
    OperationTimeoutError,
    SessionExpiredError,
    KazooTimeoutError,
)
"""The session's own events report it; the next turn repeats what failed."""


class EphemeralNode:
    """A znode of ours; a foreign one of the same name is left alone until its session ends.

    Args:
        path: Where it is; folders above it are made as needed.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._content: bytes | None = None
        self._written: bytes | None = None
        self._owner = False

    def publish(self, content: bytes) -> None:
        """Have the znode hold `content` from the next turn on; only the latest content counts."""
        with self._lock:
            self._content = content

    def write_again(self) -> None:
        """Write in the next turn even if nothing seems to have changed: what reached ZooKeeper is unknown."""
        with self._lock:
            self._written = None

    def session_over(self) -> None:
        """Make it anew: it went with its session."""
        self._owner = False

    def take_turn(self, client: Any) -> str:
        """Write what has not been written.

        Returns:
            `publishing` after a write, `held` while another session has the znode, else nothing.

        Raises:
            KazooException: Whatever ZooKeeper answers or the connection suffers.
        """
        with self._lock:
            content, written = self._content, self._written
        if content is None or content == written:
            return ""
        if self._owner:
            try:
                client.set_async(self._path, content).get(timeout=REPLY_S)
            except NoNodeError:
                self._owner = False
        if not self._owner:
            state = self._create(client, content)
            if state != "publishing":
                return state
        with self._lock:
            self._written = content
        return "publishing"

    def remove(self, client: Any) -> bool:
        """Remove the znode if it is ours, which ZooKeeper is asked: a write whose reply was lost may count.

        Returns:
            Whether there is none of ours any more; else it is to be tried again.

        Raises:
            KazooException: As above; then it is to be tried again.
        """
        stat = client.exists_async(self._path).get(timeout=REPLY_S)
        session = client.client_id
        if stat is not None:
            if session is None:
                return False
            if stat.ephemeralOwner == session[0]:
                with contextlib.suppress(NoNodeError):
                    client.delete_async(self._path).get(timeout=REPLY_S)
        self._owner = False
        self.write_again()
        return True

    def _create(self, client: Any, content: bytes) -> str:
        try:
            client.create_async(self._path, content, ephemeral=True, makepath=True).get(timeout=REPLY_S)
        except NodeExistsError:
            stat = client.exists_async(self._path).get(timeout=REPLY_S)
            session = client.client_id
            if stat is None or session is None:  # gone meanwhile: the next turn tries again
                return ""
            if stat.ephemeralOwner != session[0]:
                return "held"
            client.set_async(self._path, content).get(timeout=REPLY_S)
        self._owner = True
        return "publishing"
