"""Drains in ZooKeeper, as `stormplace drain` writes them: the daemon moves executors off such a host."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from formats.drain import FOLDER, content_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONNECT_S = 5.0


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
                client.create(path, content_of(lifetime_s), makepath=True)
            except NodeExistsError:
                client.set(path, content_of(lifetime_s))

    def end(self, host: str) -> None:
        """End a drain; see `Drains`."""
        with self._connected() as client:
            try:
                client.delete(f"{self._folder}/host:{host}")
            except NoNodeError:
                return

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        # the client would log every attempt; the one sentence is ours
        quiet = logging.Logger("kazoo", logging.CRITICAL + 1)
        client = KazooClient(hosts=self._zookeeper, timeout=_CONNECT_S, logger=quiet, **self._arguments)
        try:
            client.start(timeout=_CONNECT_S)
            yield client
        except (KazooTimeoutError, KazooException, OSError) as error:
            raise DrainError(
                f"ZooKeeper {self._zookeeper} cannot be asked: {str(error) or type(error).__name__}"
            ) from error
        finally:
            client.stop()
            client.close()
