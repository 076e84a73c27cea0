"""Storm moves executors while the query runs: later rows flow; with replay every row has a result."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from topologies.taxi.grid import Route
from topologies.taxi.trip import Trip, parse_line

from .storm_in_one_process import COMPONENTS, Storm

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 40
REJECTED = 4
SEEDS = range(3)


def some_rows(lines: list[str]) -> list[str]:
    """Few routes, one of them only at the beginning, one second apart, now and then no trip."""
    templates = [line.split(",") for line in lines[:50] if ",0.000000," not in line][:5]
    rows = []
    for n in range(ROWS):
        columns = list(templates[4 if n < 3 else n * n % 4])
        columns[3] = f"2013-01-01 00:{n // 60:02d}:{n % 60:02d}"
        if n % 10 == 4:
            columns[6] = columns[7] = "0.0"
        rows.append(",".join(columns))
    return rows


def routes(rows: list[str]) -> dict[int, str]:
    """Route of each row that passes, by number."""
    trips = {n: parse_line(row) for n, row in enumerate(rows, start=1)}
    return {
        n: str(Route.between(trip.start, trip.end))
        for n, trip in trips.items()
        if isinstance(trip, Trip) and not (trip.start.is_zero or trip.end.is_zero)
    }


def last_counts(storm: Storm) -> dict[str, int]:
    return dict(json.loads(next(row for row in reversed(storm.redis.results) if "state" in row)["state"]))


@pytest.fixture
def run(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> Callable[..., tuple[Storm, dict[int, str]]]:
    """Start a run: a simulated Storm that is fed, and the rows that pass."""

    def start(seed: int, *, replay: bool) -> tuple[Storm, dict[int, str]]:
        storm = Storm(stage, monkeypatch, seed, replay=replay)
        rows = some_rows(lines)
        storm.redis.feed(rows)
        return storm, routes(rows)

    return start


@pytest.mark.parametrize("replay", [False, True])
def test_a_run_without_moves_is_exact(run: Callable[..., Any], *, replay: bool) -> None:
    """Each row has one result, in order; nothing is lost, late or replayed."""
    storm, passing = run(1, replay=replay)
    storm.settle()
    assert storm.redis.answered == list(passing)
    assert last_counts(storm) == Counter(passing.values())
    assert storm.redis.final["lost"] == storm.redis.final["began"] == "{}"
    assert (storm.redis.final["passed"], storm.redis.final["rejected"]) == (ROWS - REJECTED, REJECTED)
    assert storm.errors == []
    assert not storm.redis.unacknowledged
    assert "replayed" not in storm.redis.tallies


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", COMPONENTS)
def test_a_move_without_replay_loses_only_rows_in_flight(
    run: Callable[..., Any], name: str, seed: int
) -> None:
    """Rows emitted after it have a result each, results are never doubled, and the run tells of the move."""
    storm, passing = run(seed, replay=False)
    while len(storm.redis.results) < 3:
        storm.step()
    for _ in range(storm.random.randrange(150)):
        storm.step()
    answered = set(storm.redis.answered)
    in_flight = storm.emitted - answered
    storm.end(name)
    storm.settle()
    assert set(passing) - set(storm.redis.answered) <= in_flight
    assert len(storm.redis.answered) == len(set(storm.redis.answered))
    final = storm.redis.final
    if final is not None:  # the marker was not in flight
        unanswered = passing.keys() - set(storm.redis.answered)
        began, lost = json.loads(final["began"]), json.loads(final["lost"])
        keeps_numbers = name in {"filterByCoordinates", "countByWindow", "partialRank", "globalRank"}
        assert set(began) == ({name} if keeps_numbers else set())
        assert began or lost or not unanswered
        assert name not in lost  # it begins with the first number that it sees
        # numbers of rejected rows are jumped over too, where the filter begins
        assert all(entry["count"] <= len(in_flight) + REJECTED for entry in lost.values())
    if name == "countByWindow":
        counts = last_counts(storm)
        late = Counter(route for n, route in passing.items() if n not in answered)
        assert all(count <= late[route] for route, count in counts.items())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", COMPONENTS)
def test_with_replay_every_row_has_a_result_whatever_moves(
    run: Callable[..., Any], name: str, seed: int
) -> None:
    """Before the final entry; Redis knows of no row that is not done, and no row is counted twice."""
    storm, passing = run(seed, replay=True)
    moved = [name, storm.random.choice(COMPONENTS)]
    for each in moved:
        for _ in range(storm.random.randrange(20, 120)):
            storm.step()
        storm.end(each)
    storm.settle()
    ends = [index for index, fields in enumerate(storm.redis.results) if "end" in fields]
    before = {int(fields["n"]) for fields in storm.redis.results[: ends[0]]}
    assert before == set(passing)
    assert not storm.redis.unacknowledged
    assert json.loads(storm.redis.final["lost"]) == {}
    assert not [error for error in storm.errors if "event time" in error]
    if "filterByCoordinates" not in moved:
        assert (storm.redis.final["passed"], storm.redis.final["rejected"]) == (ROWS - REJECTED, REJECTED)
    exact = Counter(passing.values())
    counts = last_counts(storm)
    assert all(count <= exact[route] for route, count in counts.items())
    if not {"countByWindow", "partialRank"} & set(moved):
        assert counts == exact


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("replay", [False, True])
def test_components_that_move_together_are_survived(
    run: Callable[..., Any], seed: int, *, replay: bool
) -> None:
    """A worker takes all of its components along: as for one, twice in a run."""
    storm, passing = run(seed, replay=replay)
    in_flight = set()
    for _ in range(2):
        for _ in range(storm.random.randrange(20, 120)):
            storm.step()
        in_flight |= storm.emitted - set(storm.redis.answered)
        for name in storm.random.sample(COMPONENTS, storm.random.randrange(3, 9)):
            storm.end(name)
    storm.settle()
    missing = set(passing) - set(storm.redis.answered)
    assert missing == set() if replay else missing <= in_flight
    assert not storm.redis.unacknowledged


@pytest.mark.parametrize("seed", SEEDS)
def test_with_replay_a_cut_way_leaves_exact_counts(run: Callable[..., Any], seed: int) -> None:
    """Tuples lost between components that live on are told again: the last answer is complete."""
    storm, passing = run(seed, replay=True)
    for _ in range(4):
        for _ in range(storm.random.randrange(10, 60)):
            storm.step()
        storm.random.choice([queue for queue in storm.ways.values() if queue] or [[]]).clear()
    storm.settle()
    assert set(storm.redis.answered) == set(passing)
    assert last_counts(storm) == Counter(passing.values())


@pytest.mark.parametrize("replay", [False, True])
def test_a_slow_way_loses_nothing(run: Callable[..., Any], *, replay: bool) -> None:
    """However many ticks pass, a half that is only on its way is waited for."""
    storm, passing = run(3, replay=replay)
    while len(storm.redis.results) < 3:
        storm.step()
    clock = storm.ways["metronome", "default", "countByWindow"]
    slow = storm.ways["metronome", "default", "countByWindow"] = type(clock)()
    for _ in range(200):
        storm.step()
        while slow:
            clock.append(slow.popleft())
        if storm.random.random() < 0.1:
            storm.tick()
    storm.ways["metronome", "default", "countByWindow"] = clock
    storm.settle()
    assert storm.redis.answered == list(passing)
    assert storm.errors == []
