"""A scripted Nimbus, and a collector that looks at it by a scripted clock."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from formats.nimbus import NimbusError
from monitoring.rates.collector import Collector
from monitoring.rates.counters import Counters, ExecutorLook, Shape, Stream
from monitoring.rates.nimbus import TopologyGoneError
from monitoring.rates.rates_metrics import RatesMetrics
from monitoring.zookeeper.session_figures import SessionFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monitoring.rates.nimbus_faults import ReplyError

SPOUT = Stream("spout", "default")
SHAPE = Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"}))
RATE = 10
PATH = "/s/rates/taxi-1"


class Nimbus:
    """A cluster of topologies, each of a spout and two bolts; statistics are rendered every 30 s."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.statuses = {"taxi-1": "ACTIVE"}
        self.started_s = {"spout": 0.0, "bolt-1": 0.0, "bolt-2": 0.0}
        self.hosts: dict[str, str] = {}
        self.faults: dict[str, str] = {}
        self.trouble = ""
        self.gone = False
        self.shapes = 0
        self.unusable_shapes: dict[str, ReplyError] = {}
        self.unusable_executors: dict[str, ReplyError | NimbusError] = {}
        self.during_a_look: Callable[[], None] = lambda: None

    @contextmanager
    def connect(self) -> Iterator[Nimbus]:
        if self.trouble:
            raise NimbusError(self.trouble)
        yield self

    def topologies(self) -> dict[str, str]:
        return self.statuses

    def shape(self, topology: str) -> Shape:
        self.shapes += 1
        if topology in self.unusable_shapes:
            raise self.unusable_shapes[topology]
        return SHAPE

    def executors(self, topology: str, _shape: Shape) -> tuple[ExecutorLook, ...]:
        self.during_a_look()
        if self.gone:
            raise TopologyGoneError(topology)
        if topology in self.unusable_executors:
            raise self.unusable_executors[topology]
        return tuple(
            ExecutorLook(
                name.partition("-")[0],
                task,
                task,
                self.hosts.get(name, "a"),
                6700,
                self._counters(name),
                self.faults.get(name, ""),
                "missing",
            )
            for task, name in enumerate(self.started_s, start=1)
        )

    def _counters(self, name: str) -> Counters | None:
        age_s = int((self.clock.now_s - self.started_s[name]) // 30 * 30)
        if name in self.faults or age_s < 30:
            return None
        count = RATE * age_s
        if name == "spout":
            return Counters(age_s, 1.0, {"default": 2 * count}, {"default": 2 * count}, {}, None)
        return Counters(age_s, 1.0, {}, {}, {SPOUT: count}, {SPOUT: float(count)})


class Nodes:
    """What was published."""

    def __init__(self) -> None:
        self.now: dict[str, dict[str, Any]] = {}
        self.writes = 0

    def hold(self, path: str, content: bytes) -> None:
        self.now[path] = json.loads(content)
        self.writes += 1

    def release(self, path: str) -> None:
        self.now.pop(path, None)


class Scene:
    """A collector among scripted parts."""

    def __init__(self, clock: Any, log: Any) -> None:
        self.clock, self.log = clock, log
        self.nimbus, self.nodes = Nimbus(clock), Nodes()
        self.collector = Collector(
            self.nimbus.connect, self.nodes, "/s", log, clock=clock, unix_time=lambda: 1e9 + clock()
        )

    def run(self, until_s: float) -> None:
        """Look every 10 s."""
        while self.clock.now_s + 10 <= until_s:
            self.clock.now_s += 10
            self.collector.look()

    def reading(self) -> dict[str, Any] | None:
        return self.nodes.now.get(PATH)

    def value(self, name: str, **labels: str) -> float | None:
        """Give a metric as a scrape at this moment would."""
        registry = CollectorRegistry()
        registry.register(RatesMetrics(self.collector.figures, lambda: SessionFigures({}, 0, 0.0)))
        return registry.get_sample_value(f"stormplace_rates_{name}", labels)
