"""What `network` asks a running cluster for: readings of ZooKeeper, supervisors of Nimbus."""

from __future__ import annotations

import logging
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from bridge.wire.messages import Drain, Reading, ReadingKind
from cli.errors import UserError, refused
from cli.network.network_input import NOTHING_TO_SHOW
from formats.address import Address
from formats.drain import FOLDER as DRAINS
from formats.nimbus import NimbusError
from monitoring.option_forms import is_path
from topologies.nimbus import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from monitoring.zookeeper.access import ZookeeperAuth

_CONNECT_S = 10.0
_REPLY_S = 10.0


def check_addresses(zookeeper: str, root: str, nimbus: str | None) -> None:
    """Refuse what cannot be an address or a path, before anything is asked.

    Raises:
        UserError: Naming the option.
    """
    for option, text in (("--zookeeper", zookeeper), ("--nimbus", nimbus)):
        for endpoint in [] if text is None else text.split(","):
            with refused(ValueError, by=option):
                Address.parse(endpoint)
    if not is_path(root):
        raise UserError(f"--root: {root!r} is not a path such as /stormplace")


@contextmanager
def connected(zookeeper: str, auth: ZookeeperAuth | None, path: str) -> Iterator[Any]:
    """Connect to ZooKeeper for the block.

    Args:
        zookeeper: Its addresses.
        auth: Credentials, None without any.
        path: What the block is about, for the sentence where it is not open to us.

    Raises:
        UserError: ZooKeeper cannot be reached or refuses.
    """
    _require_known_name(zookeeper)
    # The client would log every attempt; the one sentence is ours.
    quiet = logging.Logger("kazoo", logging.CRITICAL + 1)
    arguments: Mapping[str, Any] = auth.client_arguments() if auth is not None else {}
    client = KazooClient(hosts=zookeeper, timeout=_CONNECT_S, logger=quiet, **arguments)
    try:
        client.start(timeout=_CONNECT_S)
        yield client
    except NoAuthError as error:
        raise UserError(
            f"ZooKeeper {zookeeper} does not let us into {path}: credentials go into --zookeeper-auth-file"
        ) from error
    except (AuthFailedError, KazooTimeoutError, KazooException, OSError) as error:
        raise UserError(
            f"ZooKeeper {zookeeper} cannot be asked: {str(error) or type(error).__name__}"
        ) from error
    finally:
        client.stop()
        client.close()


def read_live(
    zookeeper: str, root: str, auth: ZookeeperAuth | None
) -> tuple[tuple[Reading, ...], tuple[Drain, ...]]:
    """Read the readings of all hosts, and what is to be emptied; nothing is written.

    Ages are times since ZooKeeper took the readings, by this machine's clock; where the newest reading is
    ahead of it, by that one.

    Raises:
        UserError: ZooKeeper cannot be reached or refuses; status 3 if there is no reading.
    """
    folder = f"{root}/nodes"
    with connected(zookeeper, auth, folder) as client:
        nodes, drains = contents(client, folder), contents(client, f"{root}/{DRAINS}")
    if not nodes:
        raise UserError(
            f"ZooKeeper {zookeeper} has no readings in {folder}: no agent runs, or --root is another one",
            status=NOTHING_TO_SHOW,
        )
    changes_ms = [changed_ms for found in (nodes, drains) for _, changed_ms in found.values()]
    now_ms = max(time.time() * 1000, *changes_ms)
    return (
        tuple(
            Reading(ReadingKind.NODE, name, content, round(now_ms - changed_ms))
            for name, (content, changed_ms) in sorted(nodes.items())
        ),
        tuple(
            Drain(place, content, round(now_ms - changed_ms))
            for place, (content, changed_ms) in sorted(drains.items())
        ),
    )


def _require_known_name(zookeeper: str) -> None:
    """Refuse addresses of which no name is known, as the client would go on asking until its time is up."""
    addresses = [Address.parse(endpoint) for endpoint in zookeeper.split(",")]
    for address in addresses:
        try:
            socket.getaddrinfo(address.host.strip("[]"), address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            continue
        return
    unknown = ", ".join(address.host for address in addresses)
    raise UserError(f"--zookeeper {zookeeper}: no address is known for {unknown}")


def contents(client: Any, folder: str) -> dict[str, tuple[bytes, float]]:
    """Return bytes and time of the last change (ms, ZooKeeper's clock) of what a folder holds, if any."""
    try:
        names = client.get_children(folder)
    except NoNodeError:
        return {}
    asked = {name: client.get_async(f"{folder}/{name}") for name in names}
    found = {}
    for name, reply in asked.items():
        try:
            content, stat = reply.get(timeout=_REPLY_S)
        except NoNodeError:
            continue  # gone since the list was made
        found[name] = (content, float(stat.mtime))
    return found


def supervisor_hosts(nimbus: str) -> tuple[str, ...]:
    """Ask Nimbus for the hosts of its supervisors.

    Raises:
        UserError: None of the addresses answers.
    """
    faults = []
    for endpoint in nimbus.split(","):
        try:
            with connect(Address.parse(endpoint)) as client:
                return tuple(sorted({each.host for each in client.getClusterInfo().supervisors}))
        except NimbusError as error:
            faults.append(str(error))
    raise UserError("; ".join(faults))
