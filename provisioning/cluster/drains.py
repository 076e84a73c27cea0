"""Drains in ZooKeeper, as `stormplace drain` writes them: the daemon moves executors off such a host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError

from formats.drain import FOLDER, content_of
from provisioning.cluster.zookeeper import connected

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager


_CALL_S = 5.0
"""Longest wait for an answer, s: without it a call waits for as long as ZooKeeper is away."""


class DrainError(Exception):
    """ZooKeeper cannot be reached or refuses; the message is one sentence."""


class ZookeeperDrains:
    """Writes and removes drains.

    Args:
        zookeeper: Its addresses.
        root: Path of Stormplace's readings.
        arguments: Of the client: credentials.
    """

    def __init__(self, zookeeper: str, root: str, arguments: Mapping[str, Any]) -> None:
        self._zookeeper = zookeeper
        self._folder = f"{root}/{FOLDER}"
        self._arguments = arguments

    def hold(self, host: str, lifetime_s: float) -> None:
        """Drain a host; see `Drains`."""
        path = f"{self._folder}/host:{host}"
        with self._connected() as client:
            try:
                client.create_async(path, content_of(lifetime_s), makepath=True).get(timeout=_CALL_S)
            except NodeExistsError:
                client.set_async(path, content_of(lifetime_s)).get(timeout=_CALL_S)

    def end(self, host: str) -> None:
        """End a drain; see `Drains`."""
        with self._connected() as client:
            try:
                client.delete_async(f"{self._folder}/host:{host}").get(timeout=_CALL_S)
            except NoNodeError:
                return

    def _connected(self) -> AbstractContextManager[Any]:
        return connected(self._zookeeper, self._arguments, DrainError)
