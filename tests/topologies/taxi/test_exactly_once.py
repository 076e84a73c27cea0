"""Whatever the number of tasks and shares, and whatever is lost or ended: the answers are the same."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.reference.query1 import query1
from tests.reference.query2 import query2
from topologies.taxi.components.cleaning import Parser

from .conftest import said, written
from .simulated.storm_in_one_process import PARALLEL, Storm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from topologies.batches.header import Header


def some_rows(lines: list[str], seed: int, count: int = 120) -> list[str]:
    """Real rows, thinned and spread over two hours; some times go back, some lines are no trips."""
    chance = random.Random(seed)
    rows = []
    time_s = 0
    for line in chance.sample(lines, count):
        columns = line.split(",")
        time_s += chance.choice([0, 0, 10, 60, 100])
        shown = max(0, time_s - chance.choice([0] * 12 + [60]))
        columns[0] = chance.choice("ABCDEFGH")
        columns[3] = f"2013-01-01 {shown // 3600:02}:{shown // 60 % 60:02}:{shown % 60:02}"
        columns[8:10] = chance.choice(lines[:4]).split(",")[8:10]
        columns[6:8] = chance.choice(lines[:4]).split(",")[6:8]
        if chance.random() < 0.05:
            columns[chance.randrange(2, 15)] = "x"
        rows.append(",".join(columns[: chance.choice([17] * 20 + [16])]))
    return rows


@dataclass(frozen=True)
class Finished:
    """A run that is over.

    Attributes:
        storm: What it ran on.
        answers: By query, what it wrote.
        expected: By query, what the plain reference says.
    """

    storm: Storm
    answers: dict[str, dict[str, list[str]]]
    expected: dict[str, dict[str, list[str]]]


@pytest.fixture
def run(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lines: list[str], tmp_path: Path
) -> Callable[..., Finished]:
    """Run a simulation to its end."""

    def finish(
        seed: int, disturb: Callable[[Storm, random.Random], None], *, replay: bool = False
    ) -> Finished:
        chance = random.Random(seed)
        rows = some_rows(lines, seed)
        queries = chance.choice([("1",), ("2",), ("1", "2")])
        tasks = {name: chance.choice([1, 2, 4]) for name in PARALLEL}
        storm = Storm(
            *(stage, monkeypatch, seed),
            queries=queries,
            tasks=tasks,
            shares=chance.randint(1, 5),
            replay=replay,
            conf={"taxi.ahead": chance.choice([5, 40, 20_000])},
        )
        storm.redis.feed(rows, chance)
        disturb(storm, chance)
        storm.settle()
        assert storm.redis.ended
        return Finished(
            storm,
            {query: written(tmp_path / query, query, storm.redis.results[query]) for query in queries},
            {query: said((query1 if query == "1" else query2)(rows)) for query in queries},
        )

    return finish


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("replay", [False, True])
def test_any_schedule_tasks_and_shares_give_the_plain_answers(
    run: Callable[..., Finished], seed: int, *, replay: bool
) -> None:
    """Nothing comes again, and no component complains."""
    finished = run(seed, lambda *_: None, replay=replay)
    assert finished.answers == finished.expected
    assert finished.storm.errors == []
    assert finished.storm.redis.begun == 1


@pytest.mark.parametrize("seed", range(100, 130))
@pytest.mark.parametrize("replay", [False, True])
def test_ends_and_losses_change_no_answer(run: Callable[..., Finished], seed: int, *, replay: bool) -> None:
    """Tasks end one by one or together, tuples vanish or come late, connections break: nothing shows."""

    def disturb(storm: Storm, chance: random.Random) -> None:
        for _ in range(chance.randint(1, 6)):
            for _ in range(chance.randint(0, 400)):
                storm.step()
            what = chance.randrange(4)
            if what == 0:
                storm.lose()
            elif what == 1:
                storm.cut()
            else:
                for task in chance.sample(storm.tasks, chance.choice([1, 1, 2, 5])):
                    storm.end(task, late=chance.random() < 0.5)
            if chance.random() < 0.5:
                storm.redis.now_s += chance.uniform(0.0, 8.0)

    finished = run(seed, disturb, replay=replay)
    assert finished.answers == finished.expected


@pytest.mark.parametrize("seed", range(200, 212))
@pytest.mark.parametrize("clock_back_s", [0.0, 1_000.0])
def test_an_older_redis_and_a_source_without_memory_need_one_epoch(
    run: Callable[..., Finished], seed: int, clock_back_s: float
) -> None:
    """Components that have seen later epochs take the new one at once, unless the clock went back too."""
    begun = 0

    def disturb(storm: Storm, chance: random.Random) -> None:
        nonlocal begun
        for _ in range(chance.randint(0, 600)):
            storm.step()
        kept = storm.redis.kept()
        for _ in range(5):
            storm.end(("dataSource", 0), late=True)
            for _ in range(chance.randint(50, 200)):
                storm.step()
        storm.redis.restore(kept)
        storm.redis.clock_ahead_s = -clock_back_s
        storm.tick()  # what writes results notices
        storm.end(("dataSource", 0), late=chance.random() < 0.5)
        begun = storm.redis.begun

    finished = run(seed, disturb, replay=bool(seed % 2))
    assert finished.answers == finished.expected
    assert clock_back_s or finished.storm.redis.begun == begun


@pytest.mark.parametrize("seed", range(300, 312))
def test_two_sources_that_live_at_once_do_not_fight(run: Callable[..., Finished], seed: int) -> None:
    """While all rows are worked off none begins an epoch; when rows come one serves them, whichever ends."""

    def disturb(storm: Storm, chance: random.Random) -> None:
        redis = storm.redis
        some = len(redis.rows) // 2
        later, redis.rows = redis.rows[some:], redis.rows[:some]
        for _ in range(chance.randint(0, 300)):
            storm.step()
        storm.split()
        for _ in range(3):
            storm.settle(most=100)
            assert redis.is_idle
            begun = redis.begun
            storm.settle(most=200)
            assert redis.begun == begun
            redis.rows.append(later.pop(0))
        if chance.random() < 0.5:
            storm.leave(("dataSource", chance.randrange(2)))
        redis.rows += later

    finished = run(seed, disturb, replay=bool(seed % 2))
    assert finished.answers == finished.expected


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("first", [True, False])
def test_a_batch_that_always_fails_begins_epochs_ever_more_rarely(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lines: list[str], *, first: bool, replay: bool
) -> None:
    """At last once a minute, also when rows before it come again each time; it is said which.

    Epochs of which only one row was sent cost little and wait for a tenth of the time so far.
    """
    rows = lines[:40]
    poison = 1 if first else 23
    work = Parser.work

    def fail(self: Parser, header: Header, values: Sequence[Any], came_us: int) -> None:
        if header.first <= poison < header.next:
            msg = "a fault in the code"
            raise ValueError(msg)
        work(self, header, values, came_us)

    monkeypatch.setattr(Parser, "work", fail)
    storm = Storm(stage, monkeypatch, 1, replay=replay)
    storm.redis.feed(rows, storm.random)
    storm.settle(most=600)
    assert storm.redis.now_s >= 600
    assert (20 if first else 10) <= storm.redis.begun <= (50 if first else 30)
    errors = [error for error in storm.errors if error.startswith("('dataSource'")]
    named = r": rows? (\d+)(?: to (\d+))? (?:is|are) the first not worked off after \d+ epochs in a row"
    found = re.search(named, errors[-1]) if errors else None
    assert found is not None
    assert int(found[1]) == 1 + int(storm.redis.progress.get("released:1", "0"))
    assert int(found[1]) <= poison <= int(found[2] or found[1])


def test_a_row_that_is_worked_off_ends_the_long_pauses(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    """The next loss is noticed as soon as the first."""
    storm = Storm(stage, monkeypatch, 1)
    storm.redis.feed(lines[:40], storm.random)
    work = Parser.work
    monkeypatch.setattr(Parser, "work", lambda *_: None)
    storm.settle(most=100)
    tries = storm.stage(("dataSource", 0)).component._tries
    assert tries.count == storm.redis.begun - 1 > 10
    monkeypatch.setattr(Parser, "work", work)
    storm.settle()
    assert storm.redis.ended
    for _ in range(10):
        storm.step()
    assert tries.count == 0
