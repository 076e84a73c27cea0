"""What others publish in one folder: names, and what can be read of it. It may be closed to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from kazoo.exceptions import NoAuthError

from formats.packed_content import unpack
from monitoring.zookeeper.replies import REPLY_S

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from formats.log import Log

    Content = TypeVar("Content")


class Folder:
    """A folder of readings. That one, or the folder, cannot be read is a state, logged when it begins.

    Args:
        path: Its znode.
        kind: What its readings are of, for the log.
        log: Takes the lines.
        event: Event of a reading that cannot be read.

    Attributes:
        path: Its znode.
        faults: Why readings could not be read at the last look, by name.
        unreadable: Looks at readings, or at the folder, that brought nothing.
    """

    def __init__(self, path: str, kind: str, log: Log, event: str) -> None:
        self.path = path
        self.faults: dict[str, str] = {}
        self.unreadable = 0
        self._kind = kind
        self._log = log
        self._event = event
        self._closed = False

    def names(self, client: Any, on_change: Callable[[Any], None] | None = None) -> list[str] | None:
        """Read the names in it.

        Args:
            client: Connected.
            on_change: Called once when names come or go after this look, if it succeeds.

        Returns:
            None if we may not look into it.

        Raises:
            KazooException: Whatever else ZooKeeper answers or the connection suffers.
        """
        try:
            names: list[str] = client.get_children_async(self.path, watch=on_change).get(timeout=REPLY_S)
        except NoAuthError:
            self.unreadable += 1
            if not self._closed:
                self._closed = True
                self._log.warning("folder-unreadable", path=self.path, reason=_CLOSED)
            return None
        if self._closed:
            self._closed = False
            self._log.info("folder-readable-again", path=self.path)
        return names

    def keep(self, names: Collection[str]) -> None:
        """Forget the faults of all other readings."""
        self.faults = {name: fault for name, fault in self.faults.items() if name in names}

    def ask(self, client: Any, name: str) -> Any:
        """Ask for a reading; the reply comes later."""
        return client.get_async(f"{self.path}/{name}")

    def read(self, name: str, reply: Any, parse: Callable[[bytes | None, Any], Content]) -> Content | None:
        """Return what `parse` makes of the text and the state of a znode.

        Returns:
            None if we may not read it, it cannot be unpacked or `parse` refuses it by a `ValueError`.

        Raises:
            KazooException: Whatever else ZooKeeper answers or the connection suffers.
        """
        try:
            content, stat = reply.get(timeout=REPLY_S)
            parsed = parse(None if content is None else unpack(content), stat)
        except NoAuthError:
            reason = "no access: published with other credentials"
        except ValueError as error:
            reason = str(error)
        else:
            self.faults.pop(name, None)
            return parsed
        self.unreadable += 1
        if self.faults.get(name) != reason:
            self.faults[name] = reason
            self._log.warning(self._event, **{self._kind: name}, reason=reason)
        return None


_CLOSED = (
    "no access: the folder was made with other credentials than those of --zookeeper-auth-file; trying on"
)
