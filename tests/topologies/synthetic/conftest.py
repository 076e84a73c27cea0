"""A synthetic topology in one process: real components, ways that keep order, a clock that is a number."""

from __future__ import annotations

import heapq
import io
import logging
import math
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from pystorm.component import Tuple

from topologies.redis_io.writer import WriteLostError
from topologies.synthetic import arrivals, components
from topologies.synthetic.configuration import REDIS_KEY, RUN_KEY, WORKLOAD_KEY
from topologies.synthetic.workload import Work, Workload, WorkOperator, WorkStream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Edge = tuple[int, int] | tuple[int, int, float]


def workload(
    edges: Sequence[Edge],
    *,
    rate: float = 10.0,
    work_ms: float = 2.0,
    tuples: int = 50,
    warm_up_s: float = 0.5,
    side: Sequence[Edge] = (),
    tuple_bytes: float = 200.0,
) -> Workload:
    """An application of numbered operators; an edge is (source, target) or has a rate of its own.

    `side` edges are not critical.
    """
    count = 1 + max(max(edge[:2]) for edge in edges)
    streams = [
        WorkStream(edge[0], edge[1], edge[2] if len(edge) > 2 else rate, tuple_bytes, critical)
        for given, critical in ((edges, True), (side, False))
        for edge in given
    ]
    operators = tuple(WorkOperator(f"operator {i}", f"operator_{i}", work_ms) for i in range(count))
    return Workload(operators, tuple(streams), Work.WAIT, tuples, warm_up_s)


class Cluster:
    """Runs a workload; `delay_ms` holds streams back, `drop` decides which messages are lost.

    Work and delays pass on a clock of its own, so a run takes no time and measures the same each time.
    """

    def __init__(self, given: Workload, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        self.now_us = 1_000_000_000
        self.entries: list[dict[str, str]] = []
        self.errors: list[str] = []
        self.identities: list[str] = []
        self.redis_is_there = True
        self.workload = given
        self.delay_ms: dict[int, float] = defaultdict(float)
        self.drop: Callable[[int, Sequence[Any]], bool] = lambda _stream, _values: False
        self._sent = 0
        self._free_us: dict[int, int] = defaultdict(int)
        self._underway: list[tuple[int, int, int, list[Any]]] = []
        self._install(monkeypatch)
        workload = orjson.loads(orjson.dumps(given.to_conf()))
        conf = {REDIS_KEY: "redis:1", RUN_KEY: "r", WORKLOAD_KEY: workload, **more}
        self.tasks = [self._task(index, conf) for index in range(len(given.operators))]

    def _install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cluster = self

        class Clock:
            @staticmethod
            def monotonic() -> float:
                return cluster.now_us / 1e6

            @staticmethod
            def sleep(seconds: float) -> None:
                cluster.now_us += math.ceil(seconds * 1e6)

        class Writer:
            def __init__(self, *_arguments: object) -> None:
                self.refused: deque[tuple[int, str]] = deque()

            def send(self, command: bytes, tag: int) -> None:
                if not cluster.redis_is_there:
                    raise WriteLostError("Redis is gone", (tag,))
                fields = [each.decode() for each in command.split(b"\r\n")[8::2]]
                cluster.entries.append(dict(zip(fields[0::2], fields[1::2], strict=True)))

            def check(self) -> None:
                pass

            def flush(self, _timeout_s: float) -> None:
                pass

        monkeypatch.setattr(components, "time", Clock)
        monkeypatch.setattr(arrivals, "CommandWriter", Writer)
        monkeypatch.setattr("topologies.synthetic.labour.time", Clock)
        monkeypatch.setattr("topologies.synthetic.components.now_us", lambda: cluster.now_us)

    def _task(self, index: int, conf: dict[str, Any]) -> Any:
        kind = components.Inner
        if index in self.workload.sources:
            kind = components.Source
        elif index in self.workload.sinks:
            kind = components.Sink
        task = kind(input_stream=io.BytesIO(), output_stream=io.BytesIO())
        component = self.workload.operators[index].component
        handlers = list(logging.getLogger().handlers)
        task._setup_component({"topology.name": "test"}, {"taskid": index + 1, "componentid": component})
        logging.getLogger().handlers = handlers  # pystorm adds one per component to the process' root logger
        task.initialize(conf, {})
        return task

    def run(self) -> None:
        """Let sources emit all they have, and everything arrive."""
        sources = self.workload.sources
        while not all(self.tasks[index]._ended for index in sources):
            for index in sources:
                self.tasks[index].next_tuple()
                self._collect(index)
            self._deliver(until_us=self.now_us)
        self._deliver(until_us=None)

    def tick(self) -> None:
        for index in self.workload.sinks:
            self.tasks[index].process_tick(Tuple("1", "__system", "__tick", -1, (1,)))
            self._collect(index)

    def _deliver(self, until_us: int | None) -> None:
        now_us = self.now_us
        while self._underway and (until_us is None or self._underway[0][0] <= until_us):
            at_us, _, stream, values = heapq.heappop(self._underway)
            ends = self.workload.streams[stream]
            self.now_us = max(at_us, self._free_us[ends.target])
            source = self.workload.operators[ends.source].component
            self.tasks[ends.target].process(Tuple("1", source, f"s{stream}", 1, tuple(values)))
            self._collect(ends.target)
            self._free_us[ends.target] = self.now_us
        self.now_us = now_us

    def _collect(self, index: int) -> None:
        task = self.tasks[index]
        task.serializer.flush()
        output = task.serializer.output_stream
        text = output.getvalue()
        output.seek(0)
        output.truncate()
        for message in (orjson.loads(part) for part in text.split(b"\nend\n") if part):
            if message["command"] == "error":
                self.errors.append(message["msg"])
            elif message["command"] == "emit":
                values = message["tuple"]
                self.identities += [message["id"]] if "id" in message else []
                assert all(isinstance(value, str | int) for value in values)
                stream = int(message["stream"][1:])
                if not self.drop(stream, values):
                    self._sent += 1
                    at_us = self.now_us + round(self.delay_ms[stream] * 1000)
                    heapq.heappush(self._underway, (at_us, self._sent, stream, values))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cluster]:
    return lambda given, **more: Cluster(given, monkeypatch, **more)


@pytest.fixture
def make_workload() -> Callable[..., Workload]:
    return workload
