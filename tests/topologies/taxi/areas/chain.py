"""The components of query 2 in one process, with any number of tasks, under any schedule."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from pystorm.component import Tuple

from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.taxi.components.area_ranks import GlobalAreaRank, Profitability
from topologies.taxi.components.cleaning import AREA_PROGRESS, AREAS, FilterByCoordinates, Parser
from topologies.taxi.components.dividing import TAXIS, TRIPS, AreaMetronome, ComputeAreaID
from topologies.taxi.components.taxis import EmptyTaxis
from topologies.taxi.settings import QUERIES_KEY, REDIS_KEY, RUN_KEY, SHARES_KEY

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from formats.semantics import Semantics

WAYS = {
    ("dataSource", "default"): ["parser"],
    ("parser", "default"): ["filterByCoordinates"],
    ("filterByCoordinates", AREAS): ["computeAreaID"],
    ("filterByCoordinates", AREA_PROGRESS): ["areaMetronome"],
    ("computeAreaID", TAXIS): ["emptyTaxis"],
    ("computeAreaID", TRIPS): ["profitability"],
    ("areaMetronome", "default"): ["emptyTaxis", "profitability"],
    ("emptyTaxis", "default"): ["profitability"],
    ("profitability", "default"): ["globalAreaRank"],
}
"""Which components take what a component emits on a stream."""

_FIRST = Header.FIELDS.index("first")

BY_SHARE = {"emptyTaxis", "profitability"}
SINGLE = {"areaMetronome", "globalAreaRank"}


@dataclass
class Written:
    """What the last component would write.

    Attributes:
        tops: `n row`.
        states: `n time state`.
        passed: Ranges of rows per batch.
        rejected: `n reason`.
        released: Last row of which the results are there.
        epoch: The epoch that may write.
        rebuild: Entry, row and clock from which the windows can be rebuilt (the clock may be `-`).
    """

    tops: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    released: int = 0
    epoch: int = 0
    rebuild: Sequence[Any] = ()

    def start(self) -> QueryStart:
        """Where the query stands when a new epoch begins now."""
        if not self.rebuild:
            return QueryStart()
        _, n, clock = self.rebuild
        return QueryStart(n, None if clock == "-" else clock, self.released)


class _Kept(GlobalAreaRank):
    """Returns what it would write; refuses what Redis would refuse: what is late, or does not follow."""

    written: Written

    def _write(
        self,
        header: Header,
        rebuild: tuple[str | int, ...],
        result: Mapping[str, str | int],
        tuple_ids: list[str],  # noqa: ARG002 - nothing is acknowledged here
    ) -> None:
        if not result or header.epoch != self.written.epoch:
            return
        assert header.first == self.written.released + 1
        self.written.released = header.next - 1
        self.written.rebuild = rebuild
        for kind, separator in (("tops", "\n"), ("states", "\n"), ("passed", ","), ("rejected", ";")):
            text = str(result[kind])
            getattr(self.written, kind).extend(text.split(separator) if text else [])


COMPONENTS = {
    "parser": Parser,
    "filterByCoordinates": FilterByCoordinates,
    "computeAreaID": ComputeAreaID,
    "areaMetronome": AreaMetronome,
    "emptyTaxis": EmptyTaxis,
    "profitability": Profitability,
    "globalAreaRank": _Kept,
}


class Task:
    """One task; all that it emits is flat and survives JSON."""

    def __init__(self, name: str, conf: dict[str, Any]) -> None:
        self.name = name
        self._conf = conf
        self.start()

    def start(self) -> None:
        """Begin without any state."""
        self._emitted: list[tuple[str, list[Any]]] = []
        self.component = COMPONENTS[self.name](input_stream=io.BytesIO(), output_stream=io.BytesIO())
        self.component.emit = self._take  # the rest of the protocol has tests of its own
        self.component.ack = self.component.fail = self._ignore
        self.component.initialize(self._conf, {})

    def process(self, source: str, stream: str, values: list[Any]) -> list[tuple[str, list[Any]]]:
        """Return what the component emits for a tuple, as (stream, values)."""
        self._emitted = []
        self.component.process(Tuple("1", source, stream, 1, tuple(values)))
        return self._emitted

    def _ignore(self, tup: Any) -> None:
        """Without acking nothing depends on acknowledgements."""

    def _take(self, values: list[Any], stream: str | None = None, **_: Any) -> None:
        assert all(isinstance(value, str | int | float) for value in values)
        self._emitted.append((stream or "default", orjson.loads(orjson.dumps(values))))


class Chain:
    """All components between source and Redis.

    Args:
        semantics: How the query is read.
        shares: Parts of taxis and areas.
        tasks: Tasks of each component that may have several.
        chance: Chooses which of the waiting tuples moves next, whatever its way; None: the first.
    """

    def __init__(
        self, semantics: Semantics, shares: int = 1, tasks: int = 1, chance: random.Random | None = None
    ) -> None:
        conf = {
            REDIS_KEY: "127.0.0.1:1",
            RUN_KEY: "r",
            QUERIES_KEY: "2",
            SHARES_KEY: shares,
            **semantics.conf(),
        }
        self.written = Written()
        self.tasks = {
            name: [Task(name, conf) for _ in range(1 if name in SINGLE else tasks)] for name in COMPONENTS
        }
        sink = self.tasks["globalAreaRank"][0].component
        assert isinstance(sink, _Kept)
        sink.written = self.written
        self._chance = chance
        self._waiting: list[tuple[str, str, Task, list[Any]]] = []
        self._turn = 0

    def feed(self, header: Header, lines: Sequence[str], *, end: bool = False) -> None:
        """Give the parser the lines of a batch."""
        values = ["1000", f"{header.first} 1-{header.first}", int(end), "\n".join(lines)]
        self._send("dataSource", "default", header.values + values)

    def feed_epoch(
        self, epoch: int, lines: Sequence[str], batches: Sequence[int], origin: int | None = None
    ) -> None:
        """Feed all batches of an epoch that begins now, and the end.

        Args:
            epoch: Its number.
            lines: All lines, from row 1 on.
            batches: Last row of each batch; the last released row, and the one before the query's start, are
                among them.
            origin: Where the epoch begins, at most at the query's start, which it is by default.
        """
        start = self.written.start()
        queries = pack_queries({"2": start})
        first = origin = start.start if origin is None else origin
        for last in batches:
            if last >= first:
                self.feed(Header(epoch, origin, first, last + 1, queries), lines[first - 1 : last])
                first = last + 1
        self.feed(Header(epoch, origin, first, first + 1, queries), [], end=True)
        self.written.epoch = epoch

    def kill(self, name: str, task: int) -> None:
        """Start a task anew, without what it knew; tuples that are on their way find the new one."""
        each = self.tasks[name][task]
        each.start()
        if isinstance(each.component, _Kept):
            each.component.written = self.written

    def run(self, moves: int | None = None) -> None:
        """Move so many tuples, by default all there are."""
        while self._waiting and moves != 0:
            place = self._choice(self._chance) if self._chance else 0
            source, stream, task, values = self._waiting.pop(place)
            for out, emitted in task.process(source, stream, values):
                self._send(task.name, out, emitted)
            moves = None if moves is None else moves - 1

    def _choice(self, chance: random.Random) -> int:
        """Mostly a tuple of the earliest batch, or no batch would be whole before all are under way."""
        if chance.random() < 0.3:
            return chance.randrange(len(self._waiting))
        return min(range(len(self._waiting)), key=lambda place: self._waiting[place][3][_FIRST])

    def _send(self, source: str, stream: str, values: list[Any]) -> None:
        for target in WAYS[source, stream]:
            tasks = self.tasks[target]
            self._turn += 1
            by_share = target in BY_SHARE
            task = tasks[(values[len(Header.FIELDS)] if by_share else self._turn) % len(tasks)]
            self._waiting.append((source, stream, task, values))
