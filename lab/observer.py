"""Looks at the cluster from Nimbus' host and reports to the keeper, one JSON line per look.

It looks each second while things change and less often afterwards; a line on standard input makes it look at
once and often again. Its arguments are the hosts on which a Nimbus may run.
"""

from __future__ import annotations

import json
import logging
import os
import select
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from formats.address import Address
from formats.nimbus import NimbusError, connect
from lab.layout import DAEMON_PORT, NIMBUS, NIMBUS_PORT, REDIS, REDIS_PORT, ZOOKEEPER_PORT

if TYPE_CHECKING:
    from collections.abc import Sequence

READINGS_PATH = "/stormplace/nodes"
_OFTEN_S = 1.0
_SELDOM_S = 5.0
_OFTEN_LOOKS = 10
_TIMEOUT_S = 5.0
_LISTENING = "0A"


@dataclass(frozen=True)
class Observation:
    """What one look has shown.

    Attributes:
        begun_s: Monotonic time at which the look began.
        supervisors: Host -> (worker slots, used ones), as Nimbus knows them.
        agents: Hosts with a reading in ZooKeeper.
        daemon: Whether the placement daemon listens.
    """

    begun_s: float
    zookeeper: bool = False
    redis: bool = False
    leader: bool = False
    daemon: bool = False
    supervisors: dict[str, tuple[int, int]] = field(default_factory=dict)
    agents: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Observation:
        """Read the values of a line that the observer has written."""
        slots = {host: (total, used) for host, (total, used) in content["supervisors"].items()}
        return cls(**{**content, "supervisors": slots, "agents": tuple(content["agents"])})


class Observer:
    """Holds the ZooKeeper session; asks the Nimbus that leads."""

    def __init__(self, nimbus_hosts: Sequence[str]) -> None:
        self._nimbus_addresses = tuple(Address(host, NIMBUS_PORT) for host in nimbus_hosts)
        self._zookeeper = KazooClient(hosts=f"{NIMBUS}:{ZOOKEEPER_PORT}", timeout=10.0, read_only=True)
        self._zookeeper.start_async()

    def look(self) -> Observation:
        """Ask every part of the cluster once."""
        begun_s = time.monotonic()
        leader, supervisors = self._nimbus()
        zookeeper, agents = self._agents()
        return Observation(
            begun_s, zookeeper, _redis_answers(), leader, _listens(DAEMON_PORT), supervisors, agents
        )

    def _nimbus(self) -> tuple[bool, dict[str, tuple[int, int]]]:
        """Return whether a Nimbus leads, and its supervisors."""
        try:
            with connect(self._nimbus_addresses, timeout_s=_TIMEOUT_S) as nimbus:
                leads = bool(nimbus.getLeader().isLeader)
                known = nimbus.getClusterInfo().supervisors
        except NimbusError:
            return False, {}
        return leads, {one.host: (one.num_workers, one.num_used_workers) for one in known}

    def _agents(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether ZooKeeper answers, and which hosts have a reading there."""
        if not self._zookeeper.connected:
            return False, ()
        try:
            return True, tuple(self._zookeeper.get_children_async(READINGS_PATH).get(timeout=_TIMEOUT_S))
        except NoNodeError:
            return True, ()
        except (KazooException, KazooTimeoutError):
            return False, ()


def _redis_answers() -> bool:
    """Say whether Redis answers PING."""
    try:
        with socket.create_connection((REDIS, REDIS_PORT), timeout=_TIMEOUT_S) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


def _listens(port: int) -> bool:
    """Say whether a local process listens on a TCP port, without disturbing it by a connection."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        path = Path(table)
        rows = path.read_text(encoding="ascii").splitlines()[1:] if path.exists() else []
        for row in rows:
            _number, local, _remote, state, *_rest = row.split()
            if state == _LISTENING and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


def main() -> None:
    """Look and report on standard output until standard input ends."""
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # an absent ZooKeeper is an observation, no fault
    observer = Observer(sys.argv[1:])
    previous: tuple[Any, ...] = ()
    often = _OFTEN_LOOKS
    while True:
        observation = observer.look()
        print(json.dumps(asdict(observation)), flush=True)
        seen = tuple(asdict(observation).items())[1:]
        often = _OFTEN_LOOKS if seen != previous else max(0, often - 1)
        previous = seen
        readable, _, _ = select.select([0], [], [], _OFTEN_S if often else _SELDOM_S)
        if readable:
            if not os.read(0, 4096):
                return
            often = _OFTEN_LOOKS


if __name__ == "__main__":
    main()
