"""The list of what others publish in one folder, which may be closed to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoAuthError

from monitoring.zookeeper.replies import REPLY_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.log import Log


class Folder:
    """A folder of readings. That we may not look into it is a state, logged when it begins and ends.

    Args:
        path: Its znode.
        log: Takes the lines.
    """

    def __init__(self, path: str, log: Log) -> None:
        self._path = path
        self._log = log
        self._closed = False
        self.refusals = 0
        """Looks that ZooKeeper did not let us take."""

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
            names: list[str] = client.get_children_async(self._path, watch=on_change).get(timeout=REPLY_S)
        except NoAuthError:
            self.refusals += 1
            if not self._closed:
                self._closed = True
                self._log.warning("folder-unreadable", path=self._path, reason=_CLOSED)
            return None
        if self._closed:
            self._closed = False
            self._log.info("folder-readable-again", path=self._path)
        return names


_CLOSED = (
    "no access: the folder was made with other credentials than those of --zookeeper-auth-file; trying on"
)
