"""Rules of following topologies, with a scripted Nimbus and a scripted clock."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry

from monitoring.agent_figures import SessionFigures
from monitoring.nimbus import NimbusError, TopologyGoneError
from monitoring.nimbus_faults import ReplyError, ReplyFault, lacking
from monitoring.rates_collector import Collector
from monitoring.rates_counters import Counters, ExecutorLook, Shape, Stream
from monitoring.rates_metrics import RatesMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
                "a",
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


@pytest.fixture
def scene(fake_clock: Any, log: Any) -> Scene:
    return Scene(fake_clock, log)


def test_a_reading_appears_with_the_second_rendering(scene: Scene) -> None:
    """Two renderings make a rate; before them there is no reading, also none of zeros."""
    scene.run(50)
    assert scene.reading() is None
    scene.run(60)
    reading = scene.reading()
    assert reading is not None
    assert reading["streams"] == [
        {"from": "spout", "stream": "default", "to": "bolt", "rate": 20.0, "tuple_bytes": None}
    ]
    assert reading["executors"]["execute_ms"] == [None, 1.0, 1.0]
    assert (reading["complete"], reading["time"], reading["sequence"]) == (True, 1e9 + 60, 1)
    assert scene.log.names() == ["rates-complete"]
    assert scene.nimbus.shapes == 1


def test_a_reading_is_written_once_per_refresh(scene: Scene) -> None:
    """Its time is that of the statistics, so looks that show nothing new do not renew it."""
    scene.run(290)
    assert scene.nodes.writes == 8
    reading = scene.reading()
    assert reading is not None
    assert reading["time"] == 1e9 + 270


def test_a_whole_reading_outlives_a_torn_one(scene: Scene) -> None:
    """A restarted worker has no statistics for a while: the last whole reading stays, then the torn one."""
    scene.run(120)
    scene.nimbus.started_s["bolt-1"] = 115.0
    scene.run(170)
    reading = scene.reading()
    assert reading is not None
    assert (reading["complete"], reading["time"]) == (True, 1e9 + 120)
    assert scene.log.names() == ["rates-complete", "rates-incomplete"]
    scene.run(180)
    reading = scene.reading()
    assert reading is not None
    assert (reading["complete"], reading["time"]) == (True, 1e9 + 180)
    assert scene.log.names() == ["rates-complete", "rates-incomplete", "rates-complete"]


def test_a_torn_reading_comes_when_the_whole_one_is_old(scene: Scene) -> None:
    """It names who is missing, and does not count him as zero."""
    scene.run(120)
    scene.nimbus.started_s["bolt-1"] = 1e9
    scene.run(200)
    assert scene.reading()["complete"]  # type: ignore[index]
    scene.run(210)
    reading = scene.reading()
    assert reading is not None
    assert reading["missing"] == ["bolt[2]"]
    assert reading["streams"][0]["rate"] == 20.0
    assert reading["executors"]["first_task"] == [1, 3]


def test_a_new_topology_has_time_for_a_whole_reading(scene: Scene) -> None:
    """Its executors do not start together: parts of it are told only if the rest does not come."""
    scene.nimbus.started_s["bolt-1"] = 25.0
    scene.run(80)
    assert scene.reading() is None
    scene.run(90)
    reading = scene.reading()
    assert reading is not None
    assert reading["complete"]


def test_without_nimbus_nothing_is_forgotten_and_nothing_published(scene: Scene) -> None:
    """Minutes without Nimbus are told once; the first refresh after them gives a reading again."""
    scene.run(120)
    scene.nimbus.trouble = "nimbus:6627: connection refused"
    writes = scene.nodes.writes
    scene.run(420)
    assert scene.nodes.writes == writes
    scene.nimbus.trouble = ""
    scene.run(430)
    reading = scene.reading()
    assert reading is not None
    assert reading["streams"][0]["rate"] == 20.0
    assert reading["complete"]
    assert scene.log.names() == ["rates-complete", "nimbus-silent", "nimbus-answers-again"]
    assert scene.collector.figures().failed_looks == 30


def test_unusable_statistics_are_named_once_and_counted(scene: Scene) -> None:
    """The executor counts as missing for as long."""
    scene.nimbus.faults["bolt-2"] = "emitted is missing"
    scene.run(120)
    reading = scene.reading()
    assert reading is not None
    assert reading["missing"] == ["bolt[3]"]
    assert reading["streams"][0]["rate"] == 20.0
    assert scene.log.names() == ["statistics-unusable", "rates-incomplete"]
    _, fields = scene.log.events[0]
    assert fields == {
        "topology": "taxi-1",
        "reason": "emitted is missing",
        "executors": 1,
        "named": ("bolt[3]",),
    }
    assert scene.collector.figures().faults == {"missing": 12}


@pytest.mark.parametrize("status", ["INACTIVE", "KILLED", None])
def test_a_topology_that_does_not_run_loses_its_reading(scene: Scene, status: str | None) -> None:
    """Killed, deactivated or gone: what it did says nothing any more."""
    scene.run(120)
    scene.nimbus.statuses = {} if status is None else {"taxi-1": status}
    scene.run(130)
    assert scene.reading() is None
    scene.nimbus.statuses = {"taxi-1": "ACTIVE"}
    scene.run(140)
    assert scene.reading() is None
    scene.run(150)
    reading = scene.reading()
    assert reading is not None
    assert reading["window_s"] == 30  # its history was forgotten with it


def test_a_topology_that_is_rebalanced_keeps_its_reading(scene: Scene) -> None:
    """Its spouts rest meanwhile, which is no rate to plan with."""
    scene.run(120)
    scene.nimbus.statuses["taxi-1"] = "REBALANCING"
    writes = scene.nodes.writes
    scene.run(180)
    assert scene.reading() is not None
    assert scene.nodes.writes == writes


def test_a_topology_that_vanishes_during_a_look_is_forgotten(scene: Scene) -> None:
    """Nimbus listed it and then did not know it: no fault of Nimbus."""
    scene.run(120)
    scene.nimbus.gone = True
    scene.run(130)
    assert scene.reading() is None
    assert scene.log.names() == ["rates-complete"]


@pytest.mark.parametrize("kind", ReplyFault)
@pytest.mark.parametrize("at", ["unusable_shapes", "unusable_executors"])
def test_a_topology_without_a_usable_reply_costs_no_other_its_rates(
    scene: Scene, at: str, kind: ReplyFault
) -> None:
    """It is looked at before the other one: named once, counted each time."""
    scene.nimbus.statuses = {"a-1": "ACTIVE", "taxi-1": "ACTIVE"}
    setattr(scene.nimbus, at, {"a-1": ReplyError(kind, "nothing for you")})
    scene.run(120)
    assert set(scene.nodes.now) == {PATH}
    assert scene.log.events[0] == ("topology-unreadable", {"topology": "a-1", "reason": "nothing for you"})
    assert scene.log.names() == ["topology-unreadable", "rates-complete"]
    assert scene.value("topology_faults_total", kind=kind) == 12
    assert scene.value("looks_total", outcome="answered") == 12
    assert scene.value("looks_total", outcome="failed") == 0
    setattr(scene.nimbus, at, {})
    scene.run(240)
    assert set(scene.nodes.now) == {PATH, "/s/rates/a-1"}
    assert scene.log.names()[2:] == ["topology-readable-again", "rates-complete"]


def test_a_fault_of_another_kind_is_named_again(scene: Scene) -> None:
    """Words of Nimbus may differ in each look, kinds do not."""
    for number in range(4):
        kind = ReplyFault.REFUSED if number < 2 else ReplyFault.FAILED
        scene.nimbus.unusable_executors["taxi-1"] = ReplyError(kind, f"request {number}")
        scene.run(10.0 * (number + 1))
    assert [fields["reason"] for _, fields in scene.log.events] == ["request 0", "request 2"]


def test_a_reply_that_lacks_fields_leaves_the_last_reading_and_its_age(scene: Scene) -> None:
    """How many executors lack statistics is not known then."""
    scene.run(120)
    scene.nimbus.unusable_executors["taxi-1"] = lacking("the executors")
    scene.run(150)
    reading = scene.reading()
    assert reading is not None
    assert reading["time"] == 1e9 + 120
    figures = scene.collector.figures()
    assert math.isnan(figures.missing["taxi-1"])
    assert figures.age_s["taxi-1"] == 30


def test_a_topology_without_a_status_is_kept_and_named(scene: Scene) -> None:
    """A field that is missing does not say that the topology has ended."""
    scene.run(120)
    scene.nimbus.statuses["taxi-1"] = ""
    scene.run(150)
    assert scene.reading() is not None
    assert scene.log.names() == ["rates-complete", "topology-unreadable"]


def test_an_unreadable_topology_that_ended_is_forgotten(scene: Scene) -> None:
    """Its figures go with it."""
    scene.nimbus.unusable_shapes["taxi-1"] = lacking("spouts or bolts")
    scene.run(20)
    assert set(scene.collector.figures().missing) == {"taxi-1"}
    scene.nimbus.statuses = {}
    scene.run(30)
    assert scene.collector.figures().missing == {}


def test_trouble_with_the_connection_ends_the_look(scene: Scene) -> None:
    """Nothing else can be asked over it."""
    scene.nimbus.statuses = {"a-1": "ACTIVE", "taxi-1": "ACTIVE"}
    scene.nimbus.unusable_executors["a-1"] = NimbusError("timed out")
    scene.run(20)
    assert scene.log.names() == ["nimbus-silent"]
    assert scene.value("looks_total", outcome="failed") == 2
    assert scene.value("topology_faults_total", kind="failed") == 0


def test_counts_of_looks_never_go_back_in_the_middle_of_one(scene: Scene) -> None:
    """A look that is going to fail was never an answered one."""
    seen: list[float | None] = []
    scene.nimbus.during_a_look = lambda: seen.append(scene.value("looks_total", outcome="answered"))
    scene.run(20)
    scene.nimbus.unusable_executors["taxi-1"] = NimbusError("timed out")
    scene.run(30)
    seen.append(scene.value("looks_total", outcome="answered"))
    assert seen == [0, 1, 2, 2]
    assert scene.value("looks_total", outcome="failed") == 1
