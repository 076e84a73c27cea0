"""Keeps the ephemeral znodes of one session: what each is to hold, and how each stands.

A znode may belong to another session, or ZooKeeper may refuse to write it. Such a znode keeps no other one
waiting and is reported once, whatever becomes of the connection or of the other znodes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException, NoAuthError

from monitoring.zookeeper.ephemeral_node import CONNECTION_TROUBLE, EphemeralNode

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class NodeNews:
    """What a turn has brought for one znode.

    Attributes:
        path: The znode.
        state: `publishing`: it was written; `held`: another session has it; `refusing`: ZooKeeper lets us
            neither write nor remove it. The last two are news only when they begin.
        reason: Why, as far as the state alone does not say.
        mended: Whether it was held or refused before.
    """

    path: str
    state: str
    reason: str = ""
    mended: bool = False


class HeldNodes:
    """Znodes and the contents that they are to hold; only the session's thread takes turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[str, EphemeralNode] = {}
        self._released: dict[str, EphemeralNode] = {}
        self._troubles: dict[str, tuple[str, str]] = {}

    def hold(self, path: str, content: bytes) -> None:
        """Have a znode hold `content` from the next turn on; only the latest content counts."""
        with self._lock:
            node = self._nodes.get(path)
            if node is None:
                node = self._released.pop(path) if path in self._released else EphemeralNode(path)
                self._nodes[path] = node
                node.write_again()  # its removal may be under way
        node.publish(content)

    def release(self, path: str) -> None:
        """Have a znode of ours removed, at the next turn in which ZooKeeper does so."""
        with self._lock:
            node = self._nodes.pop(path, None)
            if node is not None:
                self._released[path] = node

    def connected(self) -> None:
        """Write all again: writes under way when the connection broke may or may not count."""
        for node in self._all():
            node.write_again()

    def session_over(self) -> None:
        """Make all anew: they went with their session."""
        for node in self._all():
            node.session_over()

    def take_turn(self, client: Any) -> Iterator[NodeNews]:
        """Remove what was released, and write what has not been written.

        Raises:
            CONNECTION_TROUBLE: The connection failed; what was not reached is done in the next turn.
        """
        with self._lock:
            released = tuple(self._released.items())
        for path, node in released:
            yield from self._remove(client, path, node)
        with self._lock:
            held = tuple(self._nodes.items())
        for path, node in held:
            yield from self._write(client, path, node)

    def _remove(self, client: Any, path: str, node: EphemeralNode) -> Iterator[NodeNews]:
        try:
            removed = node.remove(client)
        except CONNECTION_TROUBLE:
            raise
        except KazooException as error:
            yield from self._trouble(path, "refusing", _reason(error))
            return
        with self._lock:
            if removed and self._released.get(path) is node:
                del self._released[path]
                self._troubles.pop(path, None)

    def _write(self, client: Any, path: str, node: EphemeralNode) -> Iterator[NodeNews]:
        try:
            state = node.take_turn(client)
        except CONNECTION_TROUBLE:
            raise
        except KazooException as error:
            yield from self._trouble(path, "refusing", _reason(error))
            return
        if state == "publishing":
            yield NodeNews(path, state, mended=self._troubles.pop(path, None) is not None)
        elif state:
            yield from self._trouble(path, state)

    def _trouble(self, path: str, state: str, reason: str = "") -> Iterator[NodeNews]:
        if self._troubles.get(path) != (state, reason):
            self._troubles[path] = (state, reason)
            yield NodeNews(path, state, reason)

    def _all(self) -> tuple[EphemeralNode, ...]:
        with self._lock:
            return (*self._nodes.values(), *self._released.values())


def _reason(error: KazooException) -> str:
    return _NO_ACCESS if isinstance(error, NoAuthError) else f"{type(error).__name__}: {error}"


_NO_ACCESS = (
    "no access: the znodes were made with other credentials than those of --zookeeper-auth-file; trying on"
)
