"""The whole query: pure classes, chained components and real processes against the plain reference."""

from __future__ import annotations

import json
import random
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies.taxi.challenge import output_row, state_json
from topologies.taxi.grid import Route
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.totals import Totals
from topologies.taxi.trip import Trip, parse_line
from topologies.taxi.window import SlidingWindow

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Shares:
    """The pure classes put together, routes spread over several shares as parallel tasks would."""

    count: int
    windows: list[SlidingWindow] = field(init=False)
    partial: list[PartialRanking] = field(init=False)
    ranking: GlobalRanking = field(default_factory=GlobalRanking)

    def __post_init__(self) -> None:
        self.windows = [SlidingWindow() for _ in range(self.count)]
        self.partial = [PartialRanking() for _ in range(self.count)]

    def row(self, p: int, trip: Trip) -> tuple[str, str | None]:
        route = str(Route.between(trip.start, trip.end))
        for share, window in enumerate(self.windows):
            window.advance(trip.dropoff_s)
            if share == hash(route) % self.count:
                window.add(route, p)
            self.partial[share].update(window.take_changes())
        changed = self.ranking.update({share: each.top() for share, each in enumerate(self.partial)})
        top = output_row(trip.pickup, trip.dropoff, self.ranking.answer) if changed else None
        return state_json(self.ranking.top()), top


def passing(lines: list[str]) -> list[tuple[int, Trip]]:
    trips = [(n, parse_line(line)) for n, line in enumerate(lines, start=1)]
    return [
        (n, trip)
        for n, trip in trips
        if isinstance(trip, Trip) and Route.between(trip.start, trip.end).on_grid
    ]


def state_of(ranking: list[tuple[str, int]]) -> str:
    return json.dumps([list(entry) for entry in ranking], separators=(",", ":"))


def test_the_reference_finds_the_known_figures_of_the_file(expected: list[Any]) -> None:
    """9,826 valid rows, 589 output rows; at the end 7,402 trips on 5,607 routes."""
    assert len(expected) == 9_826
    assert sum(answer.top is not None for answer in expected) == 589
    assert expected[0].ranking == [("161.170-160.170", 1)]
    last = expected[-1]
    assert (last.ranking[0][1], last.ranking[9][1]) == (11, 7)
    assert (last.trips, last.routes) == (7_402, 5_607)


@pytest.mark.parametrize("shares", [1, 3])
def test_pure_classes_equal_the_reference_at_every_row(
    lines: list[str], expected: list[Any], shares: int
) -> None:
    """State and output rows are the same for one share and for several."""
    query = Shares(shares)
    got = [(n, *query.row(p, trip)) for p, (n, trip) in enumerate(passing(lines), start=1)]
    assert got == [(answer.n, state_of(answer.ranking), answer.top) for answer in expected]


class Chain:
    """All components between source and sink in one process; the caller chooses which tuple moves next."""

    def __init__(self, stage: Callable[..., Any], choose: Callable[[int], int]) -> None:
        self._stages = {
            name: stage(name)
            for name in (
                *("parser", "filterByCoordinates", "computeRouteID", "metronome"),
                *("countByWindow", "partialRank"),
            )
        }
        # each queue keeps its order, as a way between two tasks does; which queue moves next is chosen
        self._queues: dict[tuple[str, str, str], deque[list[Any]]] = {
            ("dataSource", "default", "parser"): deque(),
            ("parser", "default", "filterByCoordinates"): deque(),
            ("filterByCoordinates", "default", "computeRouteID"): deque(),
            ("filterByCoordinates", "progress", "metronome"): deque(),
            ("computeRouteID", "default", "countByWindow"): deque(),
            ("metronome", "default", "countByWindow"): deque(),
            ("countByWindow", "default", "partialRank"): deque(),
        }
        self._ways_from: dict[tuple[str, str], list[deque[list[Any]]]] = {}
        for (source, stream, _), queue in self._queues.items():
            self._ways_from.setdefault((source, stream), []).append(queue)
        self._choose = choose
        self.out: list[list[Any]] = []

    def feed(self, lines: list[str]) -> None:
        queue = self._queues["dataSource", "default", "parser"]
        queue.extend([n, str(n * 1_000), line, ""] for n, line in enumerate(lines, start=1))
        queue.append([len(lines) + 1, "0", "", Totals(rows=len(lines)).encode()])

    def run(self) -> None:
        while movable := [key for key, queue in self._queues.items() if queue]:
            key = movable[self._choose(len(movable))]
            source, stream, target = key
            for out_stream, values in self._stages[target].process(
                source, self._queues[key].popleft(), stream
            ):
                for queue in self._ways_from.get((target, out_stream), ()):
                    queue.append(values)
                if target == "partialRank":
                    self.out.append(values)


@pytest.mark.parametrize("seed", [1, 2])
def test_chained_components_equal_the_reference_whichever_way_is_ahead(
    lines: list[str], expected: list[Any], stage: Callable[..., Any], seed: int
) -> None:
    """The answers do not depend on the order in which tuples of different ways arrive."""
    chain = Chain(stage, random.Random(seed).randrange)
    chain.feed(lines)
    chain.run()
    *rows, end = chain.out
    tops = [[(part.split(" ")[0], int(part.split(" ")[1])) for part in row[6].split(";")] for row in rows]
    assert [(row[1], int(row[2].split()[0]), top) for row, top in zip(rows, tops, strict=True)] == [
        (answer.n, answer.n * 1_000, answer.ranking) for answer in expected
    ]
    totals = Totals.decode(end[7])
    assert (totals.rows, totals.passed, totals.rejected_rows, dict(totals.lost)) == (10_004, 9_826, 178, {})
    assert dict(totals.rejected) == {"zero_coordinates": 176, "outside_grid": 2}


@settings(max_examples=60, deadline=None)
@given(choices=st.lists(st.integers(0, 1_000), min_size=60, max_size=60), start=st.integers(0, 9_000))
def test_any_interleaving_gives_the_same_tuples(
    lines: list[str], stage: Callable[..., Any], choices: list[int], start: int
) -> None:
    """Every schedule of the ways, also the most uneven, ends with what the even one gives."""
    some = lines[start : start + 25]
    picks = iter(choices * 10)
    wild = Chain(stage, lambda ways: next(picks) % ways)
    even = Chain(stage, lambda ways: ways - 1)
    for chain in (wild, even):
        chain.feed(some)
        chain.run()
    assert _untimed(wild.out) == _untimed(even.out)


def _untimed(rows: list[list[Any]]) -> list[list[Any]]:
    """All but the trails, which tell when things were done."""
    return [[*row[:2], *row[3:]] for row in rows]
