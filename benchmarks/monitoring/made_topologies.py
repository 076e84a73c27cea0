"""Topologies that a Nimbus made up for benchmarks reports, and a collector that follows them.

All of the rates collector is real, its session with ZooKeeper too; only Nimbus' replies are made. A topology
has 200 executors on 100 hosts, drawn anew for each. Each worker renders its statistics every 60 s, Storm's
default, at a moment of its own, so nearly every look finds something new and publishes.
"""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from formats.log import Log
from monitoring.rates.collector import Collector
from monitoring.rates.counters import ACKED, ACKER, FAILED, Counters, ExecutorLook, Shape, Stream
from monitoring.rates.nimbus import NimbusClient
from monitoring.rates.rates_options import CollectorOptions
from monitoring.zookeeper.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.synchronize import Event

RENDER_S = 60.0
HOSTS = 100
_STEP = 20
_WORKER_AGE_S = 3600
_EXECUTE_MS = 0.37
_INIT = "__ack_init"
_PARALLELISM = {"source": 20, "parse": 60, "count": 60, "store": 40, ACKER: 20}
_EMITTED = {
    "source": ("default", _INIT),
    "parse": ("default", ACKED),
    "count": ("default", ACKED),
    "store": (ACKED,),
    ACKER: (ACKED,),
}
SHAPE = Shape(
    inputs={
        "source": (Stream(ACKER, ACKED), Stream(ACKER, FAILED)),
        "parse": (Stream("source", "default"),),
        "count": (Stream("parse", "default"),),
        "store": (Stream("count", "default"),),
        ACKER: (Stream("source", _INIT), *(Stream(name, ACKED) for name in ("parse", "count", "store"))),
    },
    spouts=frozenset({"source"}),
)


class MadeNimbus(NimbusClient):
    """Answers as a Nimbus with so many topologies would.

    Args:
        count: Number of topologies.
        hosts: Names of the cluster's hosts, of which each topology uses some.
        clock: Seconds that do not go back.
    """

    def __init__(self, count: int, hosts: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(None)
        self._clock = clock
        self._born_s = clock() - _WORKER_AGE_S
        self._executors = {f"made-{number}-1-1700000000": _placed(number, hosts) for number in range(count)}
        self._rendered_after_s = {host: random.Random(host).uniform(0.0, RENDER_S) for host in hosts}

    @contextmanager
    def connect(self) -> Iterator[MadeNimbus]:
        """Stand for the opening of a connection."""
        yield self

    def topologies(self) -> dict[str, str]:
        """Return all ids; every topology is active."""
        return dict.fromkeys(self._executors, "ACTIVE")

    def shape(self, topology: str) -> Shape:  # noqa: ARG002 - all are alike
        """Return who subscribes to what."""
        return SHAPE

    def executors(self, topology: str, shape: Shape) -> tuple[ExecutorLook, ...]:
        """Return the executors with their counters as their workers have rendered them last."""
        age_s = self._clock() - self._born_s
        looks = []
        for task, (component, host, rate) in enumerate(self._executors[topology], start=1):
            after_s = self._rendered_after_s[host]
            uptime_s = int((age_s - after_s) // RENDER_S * RENDER_S + after_s)
            counters = _counters(component, uptime_s, rate, shape)
            looks.append(ExecutorLook(component, task, task, host, 6700, counters))
        return tuple(looks)


def _placed(number: int, hosts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return component, host and tuples/s of each executor."""
    rng = random.Random(number)
    used = rng.sample(hosts, min(HOSTS, len(hosts)))
    components = [component for component, count in _PARALLELISM.items() for _ in range(count)]
    rng.shuffle(components)
    return [
        (component, used[place % len(used)], rng.uniform(10.0, 1000.0))
        for place, component in enumerate(components)
    ]


def _counters(component: str, uptime_s: int, rate: float, shape: Shape) -> Counters:
    count = int(rate * uptime_s / _STEP) * _STEP
    executed = dict.fromkeys(shape.inputs[component], count)
    emitted = dict.fromkeys(_EMITTED[component], count)
    timed = component not in shape.spouts
    return Counters(
        uptime_s=uptime_s,
        step=_STEP,
        emitted=emitted,
        transferred=emitted,
        executed=executed,
        execute_ms=dict.fromkeys(executed, _EXECUTE_MS * count / _STEP) if timed else None,
        busy_ms=_EXECUTE_MS * count * len(executed) if timed else None,
    )


def collect(address: str, root: str, topologies: int, hosts: Sequence[str], stop: Event) -> None:
    """Run a collector in this process, at its default pace, until `stop` is set.

    Args:
        address: Of ZooKeeper.
        root: Path of the readings.
        topologies: How many there are.
        hosts: Names of the cluster's hosts.
        stop: Ends it.
    """
    options = CollectorOptions(nimbus="made:1", zookeeper=address, root=root)
    log = Log("error")
    session = Session(options.zookeeper, f"{root}/rates", log, session_timeout_s=40.0)
    collector = Collector(
        MadeNimbus(topologies, hosts).connect, session, root, log, window_s=options.window_s
    )
    session.start()
    due_s = time.monotonic()
    while not stop.is_set():
        collector.look()
        due_s = max(due_s + options.interval_s, time.monotonic())
        stop.wait(due_s - time.monotonic())
    session.stop()
