"""A reader of all readings that stands for the shim's cache."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, KazooException, NoNodeError, SessionExpiredError
from kazoo.protocol.states import EventType

FOLDERS = ("nodes", "rates")
PATIENCE_S = 300.0
ACCESS_CHECK_S = 30.0


class Reader:
    """Follows the readings of hosts and of rates as `ReadingsCache` of the shim does.

    It keeps one watch on each list and one on each znode, and reads a znode whenever it was written. Every
    30 s it checks its access: it reads both lists and one znode of each. The shim also follows Storm's own
    list of topologies, which is left out.

    Args:
        address: Of ZooKeeper.
        root: Path of the readings.
    """

    def __init__(self, address: str, root: str) -> None:
        self._root = root
        self.client = KazooClient(address, timeout=40.0)
        self.client.start(timeout=PATIENCE_S)
        self.updates: Counter[tuple[str, str]] = Counter()
        """Times that a reading was read, by folder and name."""
        self.bytes: Counter[str] = Counter()
        """Bytes of readings that were read, by folder."""
        self._seen: Counter[str] = Counter()
        self._known: set[tuple[str, str]] = set()
        self._changed = threading.Condition()
        self._closed = threading.Event()
        for folder in FOLDERS:
            self.client.ensure_path(f"{root}/{folder}")

    def start(self) -> None:
        """Begin to follow."""
        for folder in FOLDERS:
            self._list(folder)
        threading.Thread(target=self._check_access, daemon=True).start()

    def wait(self, folder: str, count: int) -> None:
        """Wait until so many readings of a folder were seen."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._seen[folder] >= count, PATIENCE_S):
                seen = self._seen[folder]
                raise SystemExit(f"only {seen} of {count} readings of {folder} came in {PATIENCE_S:.0f} s")

    def snapshot(self) -> tuple[Counter[tuple[str, str]], Counter[str]]:
        """Return updates and bytes as they are now."""
        with self._changed:
            return self.updates.copy(), self.bytes.copy()

    def close(self) -> None:
        """End the session."""
        self._closed.set()
        self.client.stop()
        self.client.close()

    def _list(self, folder: str) -> None:
        def watch(event: Any) -> None:
            if event.type != EventType.NONE:  # the session's own events are no news of readings
                self._list(folder)

        self.client.get_children_async(f"{self._root}/{folder}", watch=watch).rawlink(
            lambda reply: self._listed(folder, reply)
        )

    def _listed(self, folder: str, reply: Any) -> None:
        fresh = {(folder, name) for name in reply.get()} - self._known
        self._known |= fresh
        for _, name in fresh:
            self._read(folder, name)

    def _read(self, folder: str, name: str) -> None:
        def watch(event: Any) -> None:
            if event.type == EventType.CHANGED:
                self._read(folder, name)

        self.client.get_async(f"{self._root}/{folder}/{name}", watch=watch).rawlink(
            lambda reply: self._arrived(folder, name, reply)
        )

    def _arrived(self, folder: str, name: str, reply: Any) -> None:
        with contextlib.suppress(NoNodeError, ConnectionLoss, SessionExpiredError):
            content, _ = reply.get()
            with self._changed:
                self._seen[folder] += (folder, name) not in self.updates
                self.updates[folder, name] += 1
                self.bytes[folder] += len(content)
                self._changed.notify_all()

    def _check_access(self) -> None:
        while not self._closed.wait(ACCESS_CHECK_S):
            with contextlib.suppress(KazooException):  # the session was closed meanwhile
                for folder in FOLDERS:
                    for name in self.client.get_children(f"{self._root}/{folder}")[:1]:
                        self.client.get(f"{self._root}/{folder}/{name}")
