"""Keeps the ephemeral znodes of one session: what each is to hold, and how each stands.

A znode may belong to another session, or ZooKeeper may refuse to write it. Such a znode keeps no other one
waiting and is reported once, whatever becomes of the connection or of the other znodes. A foreign one of the
same name is left alone until its session ends.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException, NoAuthError, NodeExistsError, NoNodeError

from monitoring.zookeeper.replies import CONNECTION_TROUBLE, REPLY_S

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


@dataclass(eq=False)
class _Node:
    """One znode.

    Attributes:
        path: Where it is; folders above it are made as needed.
        content: What it is to hold.
        written: What ZooKeeper took last; None if it is unknown what reached it.
        ours: Whether this session is known to have made it.
        released: Whether it is to be removed.
        trouble: State and reason that were reported last; None while nothing is wrong.
    """

    path: str
    content: bytes = b""
    written: bytes | None = None
    ours: bool = False
    released: bool = False
    trouble: tuple[str, str] | None = None


class HeldNodes:
    """Znodes and the contents that they are to hold; only the session's thread takes turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[str, _Node] = {}

    def hold(self, path: str, content: bytes) -> None:
        """Have a znode hold `content` from the next turn on; only the latest content counts."""
        with self._lock:
            node = self._nodes.setdefault(path, _Node(path))
            node.content = content
            if node.released:
                node.released, node.written = False, None  # its removal may be under way

    def release(self, path: str) -> None:
        """Have a znode of ours removed, at the next turn in which ZooKeeper does so."""
        with self._lock:
            if path in self._nodes:
                self._nodes[path].released = True

    def connected(self) -> None:
        """Write all again: writes under way when the connection broke may or may not count."""
        with self._lock:
            for node in self._nodes.values():
                node.written = None

    def session_over(self) -> None:
        """Make all anew: they went with their session."""
        with self._lock:
            for node in self._nodes.values():
                node.ours = False

    def take_turn(self, client: Any) -> Iterator[NodeNews]:
        """Remove what was released, and write what has not been written.

        Raises:
            CONNECTION_TROUBLE: The connection failed; what was not reached is done in the next turn.
        """
        with self._lock:
            nodes = sorted(self._nodes.values(), key=lambda node: not node.released)
        for node in nodes:
            reason = ""
            try:
                state = self._remove(client, node) if node.released else self._write(client, node)
            except CONNECTION_TROUBLE:
                raise
            except KazooException as error:
                state, reason = "refusing", _reason(error)
            former = node.trouble
            if state == "publishing":
                node.trouble = None
                yield NodeNews(node.path, state, mended=former is not None)
            elif state and former != (state, reason):
                node.trouble = (state, reason)
                yield NodeNews(node.path, state, reason)

    def _remove(self, client: Any, node: _Node) -> str:
        """Remove the znode if ZooKeeper says that it is ours: a write whose reply was lost may count."""
        stat = client.exists_async(node.path).get(timeout=REPLY_S)
        session = client.client_id
        if stat is not None and session is None:  # whose it is shows in the next session
            return ""
        if stat is not None and stat.ephemeralOwner == session[0]:
            with contextlib.suppress(NoNodeError):
                client.delete_async(node.path).get(timeout=REPLY_S)
        with self._lock:
            node.ours, node.written = False, None
            if node.released:  # not held again meanwhile
                del self._nodes[node.path]
        return ""

    def _write(self, client: Any, node: _Node) -> str:
        """Write what has not been written.

        Returns:
            `publishing` after a write, `held` while another session has the znode, else nothing.
        """
        with self._lock:
            content, written = node.content, node.written
        if content == written:
            return ""
        if node.ours:
            try:
                client.set_async(node.path, content).get(timeout=REPLY_S)
            except NoNodeError:
                node.ours = False
        if not node.ours:
            state = self._create(client, node, content)
            if state != "publishing":
                return state
        with self._lock:
            node.written = content
        return "publishing"

    def _create(self, client: Any, node: _Node, content: bytes) -> str:
        try:
            client.create_async(node.path, content, ephemeral=True, makepath=True).get(timeout=REPLY_S)
        except NodeExistsError:
            stat = client.exists_async(node.path).get(timeout=REPLY_S)
            session = client.client_id
            if stat is None or session is None:  # gone meanwhile: the next turn tries again
                return ""
            if stat.ephemeralOwner != session[0]:
                return "held"
            client.set_async(node.path, content).get(timeout=REPLY_S)
        node.ours = True
        return "publishing"


def _reason(error: KazooException) -> str:
    return _NO_ACCESS if isinstance(error, NoAuthError) else f"{type(error).__name__}: {error}"


_NO_ACCESS = (
    "no access: the znodes were made with other credentials than those of --zookeeper-auth-file; trying on"
)
