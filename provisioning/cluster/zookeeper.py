"""A short connection to ZooKeeper, for one thing that is asked or written there."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONNECT_S = 5.0


@contextmanager
def connected(
    zookeeper: str, arguments: Mapping[str, Any], error: type[Exception], connect_s: float = _CONNECT_S
) -> Iterator[Any]:
    """Connect, and end the connection.

    Args:
        zookeeper: Its addresses.
        arguments: Of the client: credentials.
        error: Is raised with one sentence if ZooKeeper cannot be reached or refuses.
        connect_s: How long it may take to be reached, s.
    """
    # the client would log every attempt; the one sentence is ours
    quiet = logging.Logger("kazoo", logging.CRITICAL + 1)
    client = KazooClient(hosts=zookeeper, timeout=_CONNECT_S, logger=quiet, **arguments)
    try:
        client.start(timeout=connect_s)
        yield client
    except (KazooTimeoutError, KazooException, OSError) as fault:
        why = str(fault) or type(fault).__name__
        raise error(f"ZooKeeper {zookeeper} cannot be asked: {why}") from fault
    finally:
        client.stop()
        client.close()
