"""Storm and Redis, simulated: ways that keep order, acks, timeouts, ends of components; time is a number."""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING, Any

from topologies.redis_io.reader import Entry
from topologies.taxi.keys import REDIS_KEY, REPLAY_KEY, RUN_KEY
from topologies.taxi.topology import TaxiTopology

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

COMPONENTS = tuple(spec.name for spec in TaxiTopology.specs)
TICKING = ("countByWindow", "globalRank")
Way = tuple[str, str, str]


class Redis:
    """The stream of rows with its group, the results, and the connections of source and sink."""

    def __init__(self) -> None:
        self.rows: deque[Entry] = deque()
        self.unacknowledged: dict[str, Entry] = {}
        self.tallies: dict[str, int] = {}
        self.results: list[dict[str, Any]] = []
        self.sent: deque[tuple[dict[str, Any], int, Callable[[int], None] | None]] = deque()
        self.read_at_s: dict[str, float] = {}
        self.now_s = 0.0

    def feed(self, lines: list[str]) -> None:
        for n, line in enumerate(lines, start=1):
            self.rows.append(Entry(f"{n}-0", {"n": str(n), "line": line}))
        self.rows.append(Entry(f"{len(lines) + 1}-0", {"n": str(len(lines) + 1), "end": "1"}))

    @property
    def answered(self) -> list[int]:
        return [int(fields["n"]) for fields in self.results if "n" in fields]

    @property
    def final(self) -> dict[str, Any] | None:
        return next((fields for fields in self.results if "end" in fields), None)

    def write(self) -> None:
        fields, tag, on_answer = self.sent.popleft()
        self.results.append(fields)
        if on_answer is not None:
            on_answer(tag)

    def reader(self, *_: Any, acknowledged: bool) -> Any:
        redis = self

        class Reader:
            def start(self) -> None:
                pass

            def poll(self) -> list[Entry] | None:
                entries = [redis.rows.popleft() for _ in range(min(3, len(redis.rows)))]
                for entry in entries if acknowledged else []:
                    redis.unacknowledged[entry.id] = entry
                    redis.read_at_s[entry.id] = redis.now_s
                return entries or None

        return Reader()

    def unacknowledged_entries(self, *_: Any) -> Any:
        redis = self
        self.tallies["began"] = self.tallies.get("began", 0) + 1

        class Unacknowledged:
            life = redis.tallies["began"] - 1
            found: list[Entry] | None = None

            def start(self) -> None:
                pass

            def acknowledge(self, entry_id: str) -> None:
                redis.unacknowledged.pop(entry_id, None)

            def count(self, tally: str) -> None:
                redis.tallies[tally] = redis.tallies.get(tally, 0) + 1

            def claim(self, idle_ms: int) -> None:
                due_s = redis.now_s - idle_ms / 1_000
                self.found = [
                    each for key, each in redis.unacknowledged.items() if redis.read_at_s[key] <= due_s
                ]

            def poll(self) -> list[Entry] | None:
                found, self.found = self.found, None
                return found

        return Unacknowledged()

    def writer(self, _: Any, on_answer: Callable[[int], None] | None = None) -> Any:
        redis = self
        redis.sent.clear()  # what an earlier sink had not got through

        class Writer:
            def add(self, _: str, fields: dict[str, Any], tag: int) -> None:
                redis.sent.append((fields, tag, on_answer))

            def check(self) -> None:
                pass

        return Writer()


class Storm:
    """The topology's tasks and ways; `seed` chooses what moves next."""

    def __init__(
        self, stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, seed: int, *, replay: bool
    ) -> None:
        self.redis = Redis()
        self.random = random.Random(seed)
        source, ranks = "topologies.taxi.components.source", "topologies.taxi.components.ranks"
        monkeypatch.setattr(f"{source}.StreamReader", self.redis.reader)
        monkeypatch.setattr(f"{source}.UnacknowledgedEntries", self.redis.unacknowledged_entries)
        monkeypatch.setattr(f"{source}.monotonic", lambda: self.redis.now_s)
        monkeypatch.setattr(f"{ranks}.StreamWriter", self.redis.writer)
        conf = {REDIS_KEY: "redis:6379", RUN_KEY: "r1", REPLAY_KEY: replay}
        self._start = lambda name: stage(name, conf)
        self._tasks = {name: self._start(name) for name in COMPONENTS}
        self.ways: dict[Way, deque[tuple[str, list[Any]]]] = {
            (stream.componentId, stream.streamId, name): deque()
            for name, bolt in TaxiTopology.thrift_bolts.items()
            for stream in bolt.common.inputs
        }
        self._held: dict[str, dict[str, set[int]]] = {name: {} for name in COMPONENTS}
        self._roots_of: dict[str, set[int]] = {}
        self._trees: dict[int, tuple[str, set[str]]] = {}
        self._last_id = 0
        self.emitted: set[int] = set()
        self.errors: list[str] = []

    def step(self) -> bool:
        """Let one thing happen; return whether anything but the source's turn was possible."""
        self.redis.now_s += 0.001
        ways = [way for way, queue in self.ways.items() if queue]
        choices: list[Any] = [*ways, *ways, "dataSource"] + ["redis"] * bool(self.redis.sent)
        choice = self.random.choice(choices)
        if choice == "redis":
            self.redis.write()
            self._handle("globalRank", self._tasks["globalRank"].messages())
        elif choice == "dataSource":
            self._call("dataSource", {"command": "next"})
        else:
            self._deliver(choice)
        return len(choices) > 1 or bool(self.redis.rows)

    def settle(self, most: int = 40) -> None:
        """Go on until the final entry is there, with ticks and timeouts whenever all is quiet."""
        for _ in range(most):
            quiet = 0
            while quiet < 3:
                quiet = 0 if self.step() else quiet + 1
            if self.redis.final is not None and not self._trees and not self.redis.sent:
                return
            self.redis.now_s += 6.0
            self.tick()
            self.redis.now_s += 15.0
            for root in list(self._trees):
                self._fail(root)

    def tick(self) -> None:
        for name in TICKING:
            self._process(name, "__system", "__tick", [1])

    def end(self, name: str) -> None:
        """End a component as a move does: what is on the way to it or held by it is lost."""
        for way, queue in self.ways.items():
            if way[2] == name:
                queue.clear()
        self._held[name].clear()
        if name == "dataSource":
            self._trees.clear()
        self._tasks[name] = self._start(name)

    def _deliver(self, way: Way) -> None:
        tuple_id, values = self.ways[way].popleft()
        self._process(way[2], way[0], way[1], values, tuple_id)

    def _process(
        self, name: str, source: str, stream: str, values: list[Any], tuple_id: str | None = None
    ) -> None:
        tuple_id = tuple_id or self._new_id()
        self._held[name][tuple_id] = self._roots_of.pop(tuple_id, set())
        message = {"id": tuple_id, "comp": source, "stream": stream, "task": 1, "tuple": values}
        self._call(name, message)

    def _call(self, name: str, message: dict[str, Any]) -> None:
        self._handle(name, self._tasks[name].run(message))

    def _handle(self, name: str, messages: list[dict[str, Any]]) -> None:
        held = self._held[name]
        for message in messages:
            command = message["command"]
            if command == "error":
                self.errors.append(f"{name}: {message['msg']}")
            elif command == "emit":
                self._emit(name, message)
            elif command == "ack":
                # Storm ends a worker that acknowledges, fails or anchors to what it does not hold
                tuple_id = message["id"]
                for root in held.pop(tuple_id):
                    self._done(root, tuple_id)
            elif command == "fail":
                for root in held.pop(message["id"]):
                    self._fail(root)

    def _emit(self, name: str, message: dict[str, Any]) -> None:
        roots: set[int] = set()
        if name == "dataSource":
            self.emitted.add(message["tuple"][0])
            if message.get("id") is not None:
                self._last_id += 1
                roots = {self._last_id}
                self._trees[self._last_id] = (message["id"], set())
        for anchor in message.get("anchors") or []:
            roots = roots | self._held[name][anchor]
        for (source, stream, _), queue in self.ways.items():
            if (source, stream) == (name, message.get("stream", "default")):
                tuple_id = self._new_id()
                self._roots_of[tuple_id] = roots
                for root in roots & self._trees.keys():
                    self._trees[root][1].add(tuple_id)
                queue.append((tuple_id, message["tuple"]))

    def _done(self, root: int, tuple_id: str) -> None:
        if root in self._trees:
            message_id, tuples = self._trees[root]
            tuples.discard(tuple_id)
            if not tuples:
                del self._trees[root]
                self._call("dataSource", {"command": "ack", "id": message_id})

    def _fail(self, root: int) -> None:
        if root in self._trees:
            message_id, _ = self._trees.pop(root)
            self._call("dataSource", {"command": "fail", "id": message_id})

    def _new_id(self) -> str:
        self._last_id += 1
        return str(self._last_id)
