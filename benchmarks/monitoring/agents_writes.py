"""What agents write to ZooKeeper: real ones, and znodes that stand for others."""

from __future__ import annotations

import functools
import os
import random
import threading
import time
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient

from benchmarks.monitoring.agents_reads import AgentReads, CountedReads, read_in_turns
from benchmarks.monitoring.readings_reader import PATIENCE_S
from formats.log import Log
from formats.packed_content import pack
from monitoring.coordinate import Coordinate
from monitoring.reading import Address, Link, Load, Outages, Reading, to_json
from monitoring.zookeeper.publisher import Publisher, PublisherOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.synchronize import Event

ROOT = "/scale"
PUBLISH_S = 5.0
SESSIONS = 10


@functools.cache
def _links(host: str) -> dict[str, Link]:
    rng = random.Random(host)
    return {
        f"site-{rng.randrange(20)}-host-{number}": Link(
            rng.uniform(0, 120),
            rng.uniform(0, 90),
            rng.uniform(90, 120),
            5,
            rng.uniform(0, 0.05),
            rng.uniform(0.99, 1),
        )
        for number in range(32)
    }


def content(host: str, sequence: int) -> bytes:
    """Give the text of a reading as large as readings get."""
    place = Coordinate((1.2345 * (sequence % 7), -20.3456, 30.4567, 4.5678, 56.7891), 0.5, 0.05)
    load = Load(0.25, 0.5, 0.75, 2, 4)
    here, past = Address("10.0.0.1", 7091), Outages(0.0, None)
    return to_json(
        Reading(time.time(), sequence, 30.0, host, "site-1", place, 0.9995, past, load, _links(host), here)
    )


def agents(address: str, names: list[str], stop: Event) -> None:
    """Run real agents in this process until `stop` is set."""
    publishers = []
    for name in names:
        publisher = Publisher(
            PublisherOptions(address, ROOT, name, session_timeout_s=40.0), _ignore, _ignore, Log("error")
        )
        publisher.start()
        publishers.append(publisher)
    _write_in_turn(names, lambda number, reading: publishers[number].publish(reading), stop)


def znodes(address: str, names: list[str], hosts: list[str], read: Any, stop: Event) -> None:
    """Keep ephemeral znodes of other agents, and read what they would read, until `stop` is set.

    Args:
        address: Of the server.
        names: Hosts whose agents are only znodes.
        hosts: All hosts.
        read: Shared array that takes the bytes of partners and of peers' readings that were read.
        stop: Ends it.
    """
    clients = [KazooClient(address, timeout=40.0) for _ in range(SESSIONS + 2)]
    for client in clients:
        client.start(timeout=PATIENCE_S)
    paths = [f"{ROOT}/nodes/{name}" for name in names]
    made = [
        clients[number % SESSIONS].create_async(path, pack(content(name, 0)), ephemeral=True, makepath=True)
        for number, (path, name) in enumerate(zip(paths, names, strict=True))
    ]
    for reply in made:
        reply.get(timeout=PATIENCE_S)
    partners, peers = (CountedReads(client) for client in clients[SESSIONS:])

    def note() -> None:
        read[:] = partners.bytes, peers.bytes

    reads = AgentReads(partners, peers, root=ROOT, readers=names, hosts=hosts)
    threading.Thread(target=read_in_turns, args=(reads, note, stop), daemon=True).start()

    def write(number: int, reading: bytes) -> None:
        clients[number % SESSIONS].set_async(paths[number], pack(reading))

    _write_in_turn(names, write, stop)


def _ignore(_news: object) -> None:
    """Take news that the benchmark does not need."""


def _write_in_turn(names: list[str], write: Callable[[int, bytes], object], stop: Event) -> None:
    """Have every agent publish every 5 s, evenly spread."""
    sequence, due_s = 0, time.monotonic()
    while True:
        sequence += 1
        for number, name in enumerate(names):
            due_s += PUBLISH_S / len(names)
            if stop.wait(max(0.0, due_s - time.monotonic())):
                os._exit(0)  # closing all sessions in order is no part of what is measured
            write(number, content(name, sequence))
