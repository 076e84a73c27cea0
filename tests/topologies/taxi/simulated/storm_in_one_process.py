"""Storm, simulated: ways that keep order, acks, losses, ends of tasks; time is a number."""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING, Any

from topologies.batches.acking import REPLAY_KEY
from topologies.taxi.settings import QUERIES_KEY, REDIS_KEY, RUN_KEY, SHARES_KEY
from topologies.taxi.topology import taxi_topology

from .redis_in_one_process import Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

Task = tuple[str, int]
Way = tuple[Task, str, Task]
_TICK_S = 1.0

PARALLEL = (
    *("parser", "filterByCoordinates", "computeRouteID", "countByWindow", "partialRank"),
    *("computeAreaID", "emptyTaxis", "profitability"),
)


class Storm:
    """The topology's tasks and ways; `seed` chooses what moves next."""

    def __init__(
        self,
        stage: Callable[..., Any],
        monkeypatch: pytest.MonkeyPatch,
        seed: int,
        *,
        queries: tuple[str, ...] = ("1",),
        tasks: Mapping[str, int] | None = None,
        shares: int = 1,
        replay: bool = False,
        conf: Mapping[str, object] | None = None,
    ) -> None:
        self.random = random.Random(seed)
        self.redis = Redis(queries)
        self.redis.chance = self.random
        self.redis.cut = set()
        source, sink = "topologies.taxi.components.source", "topologies.taxi.components.sink"
        monkeypatch.setattr(f"{source}.EpochReader", self.redis.reader)
        monkeypatch.setattr(f"{source}.ProgressWatch", self.redis.watch)
        monkeypatch.setattr(f"{source}.monotonic", lambda: self.redis.now_s)
        monkeypatch.setattr(f"{sink}.CommandWriter", self.redis.writer)
        conf = {
            REDIS_KEY: "redis:6379",
            RUN_KEY: "r1",
            REPLAY_KEY: replay,
            QUERIES_KEY: ",".join(queries),
            SHARES_KEY: shares,
            **(conf or {}),
        }
        self._start = lambda task: stage(task[0], conf)
        topology = taxi_topology(queries, tasks or {})
        self.tasks = [(spec.name, index) for spec in topology.specs for index in range(spec.par)]
        self._count = {spec.name: spec.par for spec in topology.specs}
        self._fields = {
            (spec.name, name): list(stream.output_fields)
            for spec in topology.specs
            for name, stream in (spec.common.streams or {}).items()
        }
        self._targets: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        for name, bolt in topology.thrift_bolts.items():
            for stream, grouping in bolt.common.inputs.items():
                self._targets.setdefault((stream.componentId, stream.streamId), []).append((name, grouping))
        self._stages = {task: self._start(task) for task in self.tasks}
        self.ways: dict[Way, deque[tuple[str, list[Any]]]] = {}
        self._held: dict[Task, dict[str, set[int]]] = {task: {} for task in self.tasks}
        self._trees: dict[int, tuple[Task, str, set[str]]] = {}
        self._roots_of: dict[str, set[int]] = {}
        self._last_id = 0
        self.errors: list[str] = []

    def stage(self, task: Task) -> Any:
        """The component of a task."""
        return self._stages[task]

    def step(self) -> bool:
        """Let one thing happen; return whether anything but a source's turn was possible."""
        self.redis.now_s += 0.001
        ways = [way for way, queue in self.ways.items() if queue]
        writers = [writer for writer, queue in self.redis.writers.items() if queue]
        sources = [task for task in self.tasks if task[0] == "dataSource"]
        choices: list[Any] = [*ways, *ways, *writers, *sources]
        choice = self.random.choice(choices)
        if isinstance(choice, int):
            self.redis.answer(choice)
            for task in self.tasks:
                if task[0].startswith("global"):
                    self._handle(task, self._stages[task].messages())
        elif choice in sources:
            self._call(choice, {"command": "next"})
        else:
            tuple_id, values = self.ways[choice].popleft()
            self._process(choice[2], choice[0], choice[1], values, tuple_id)
        return len(choices) > len(sources)

    def settle(self, most: int = 200) -> None:
        """Go on until all results are there, with ticks and time passing whenever all is quiet."""
        for _ in range(most):
            quiet = 0
            while quiet < 5:
                quiet = 0 if self.step() else quiet + 1
            if self.redis.ended:
                return
            self.redis.now_s += _TICK_S
            self.tick()

    def tick(self) -> None:
        for task in self.tasks:
            if task[0].startswith("global"):
                self._process(task, ("__system", -1), "__tick", [1])

    def lose(self) -> None:
        """Lose a tuple that is on its way."""
        queues = [queue for queue in self.ways.values() if queue]
        if queues:
            self.random.choice(queues).popleft()

    def cut(self) -> None:
        """Break the connections of the sinks."""
        self.redis.cut |= {writer for writer, queue in self.redis.writers.items() if queue}

    def end(self, task: Task, *, late: bool) -> None:
        """End a task, which starts anew and empty; what it had sent comes late, or not at all."""
        for way, queue in self.ways.items():
            if way[2] == task or (way[0] == task and not late):
                queue.clear()
        self._held[task].clear()
        self._trees = {root: tree for root, tree in self._trees.items() if tree[0] != task}
        self._stages[task] = self._start(task)

    def split(self) -> None:
        """Start a second source beside the first, as Storm may after a part of the network was cut off."""
        task = ("dataSource", 1)
        self.tasks.append(task)
        self._held[task] = {}
        self._stages[task] = self._start(task)

    def leave(self, task: Task) -> None:
        """End a task for good."""
        self.tasks.remove(task)
        self._trees = {root: tree for root, tree in self._trees.items() if tree[0] != task}

    def _process(
        self, task: Task, source: Task, stream: str, values: list[Any], tuple_id: str | None = None
    ) -> None:
        tuple_id = tuple_id or self._new_id()
        self._held[task][tuple_id] = self._roots_of.pop(tuple_id, set())
        message = {"id": tuple_id, "comp": source[0], "stream": stream, "task": 1, "tuple": values}
        self._call(task, message)

    def _call(self, task: Task, message: dict[str, Any]) -> None:
        self._handle(task, self._stages[task].run(message))

    def _handle(self, task: Task, messages: list[dict[str, Any]]) -> None:
        held = self._held[task]
        for message in messages:
            command = message["command"]
            if command == "error":
                self.errors.append(f"{task}: {message['msg']}")
            elif command == "emit":
                self._emit(task, message)
            elif command in {"ack", "fail"}:
                # Storm ends a worker that acknowledges, fails or anchors to what it does not hold
                tuple_id = message["id"]
                for root in held.pop(tuple_id):
                    self._done(root, tuple_id, failed=command == "fail")

    def _emit(self, task: Task, message: dict[str, Any]) -> None:
        values, stream = message["tuple"], message.get("stream", "default")
        assert all(isinstance(value, str | int) for value in values)
        roots: set[int] = set()
        if task[0] == "dataSource" and message.get("id") is not None:
            self._last_id += 1
            roots = {self._last_id}
            self._trees[self._last_id] = (task, message["id"], set())
        for anchor in message.get("anchors") or []:
            roots = roots | self._held[task][anchor]
        for name, grouping in self._targets.get((task[0], stream), []):
            tuple_id = self._new_id()
            self._roots_of[tuple_id] = roots
            for root in roots & self._trees.keys():
                self._trees[root][2].add(tuple_id)
            way = (task, stream, (name, self._choose(task, stream, name, grouping, values)))
            self.ways.setdefault(way, deque()).append((tuple_id, values))

    def _choose(self, task: Task, stream: str, name: str, grouping: Any, values: list[Any]) -> int:
        count = self._count[name]
        if grouping.fields:
            fields = self._fields[task[0], stream]
            return hash(tuple(values[fields.index(field)] for field in grouping.fields)) % count
        return 0 if grouping.fields is not None else self.random.randrange(count)

    def _done(self, root: int, tuple_id: str, *, failed: bool) -> None:
        if root not in self._trees:
            return
        source, message_id, tuples = self._trees[root]
        tuples.discard(tuple_id)
        if failed or not tuples:
            del self._trees[root]
            self._call(source, {"command": "fail" if failed else "ack", "id": message_id})

    def _new_id(self) -> str:
        self._last_id += 1
        return str(self._last_id)
