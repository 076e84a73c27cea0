"""Whatever is chosen on the open points: the stream, Spark's kernels and the plain programs say the same."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from formats.semantics import CHOICES, Semantics, parse_settings
from replay.expected.boundaries import false_tops
from replay.expected.considered import judge
from replay.expected.event_blocks import SPAN_S, Span, history_spans, lay_out
from replay.expected.kernel.both_queries import BlockSolver
from replay.expected.raw_trips import from_lines
from tests.reference.choices import Choices
from tests.reference.query1 import query1
from tests.reference.query2 import query2
from tests.topologies.taxi.areas import messy

from .conftest import said, written
from .simulated.storm_in_one_process import PARALLEL, Storm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reference.query1 import Answers


def as_spark_solves(lines: list[str], settings: dict[str, str], rows: int) -> list[dict[str, Any]]:
    """What the kernels answer, cut into blocks of so many rows."""
    semantics = parse_settings(f"{name}={value}" for name, value in settings.items())
    batch = pa.record_batch(
        {"line": pa.array(range(1, len(lines) + 1), pa.int64()), "text": pa.array(lines, pa.string())}
    )
    table = pa.Table.from_batches([judge(from_lines(batch), (1, 2), semantics)])
    spans: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        if not (row["reason1"] and row["reason2"]):
            spans.setdefault((row["dropoff_s"] - 1) // SPAN_S, []).append(row)
    counted = [
        Span(
            number,
            len(held),
            {q: min((row["n"] for row in held if not row[f"reason{q}"]), default=None) for q in (1, 2)},
        )
        for number, held in spans.items()
    ]
    history, own_rows = history_spans(semantics), semantics.expiry == "own-rows"
    layout = lay_out(counted, rows, history, from_last_row=own_rows)
    solver = BlockSolver((1, 2), semantics, layout.bounds)
    found = []
    for block in layout.bounds:
        held = [row for span, owner in layout.members if owner == block for row in spans[span]]
        found += solver.solve(block, pa.Table.from_pylist(held, table.schema)).to_pylist()
    borders = [row for row in found if row["first"] or row["kind"] == "edge"]
    false = false_tops((row["query"], row["block"], row["kind"], row["labels"]) for row in borders)
    return [row for row in found if not (row["first"] and (row["query"], row["block"]) in false)]


def of_kind(found: list[dict[str, Any]], query: int, kind: str) -> list[dict[str, Any]]:
    return [row for row in found if (row["query"], row["kind"]) == (query, kind)]


def ranks(row: dict[str, Any], query: int) -> list[list[object]]:
    """The best eleven of a state, as the plain programs have them."""
    if query == 1:
        return [list(each) for each in zip(row["names"], row["counts"], strict=True)]
    columns = (row[name][:11] for name in ("names", "counts", "medians", "profitabilities"))
    return [
        [name, empty, f"{median:.3f}", f"{profitability:.6f}"]
        for name, empty, median, profitability in zip(*columns, strict=True)
    ]


def same_by_spark(found: list[dict[str, Any]], query: int, answers: Answers) -> None:
    assert [n for row in of_kind(found, query, "passed") for n in row["lines"]] == answers.passed
    assert [(row["line"], row["row"]) for row in of_kind(found, query, "top")] == answers.tops
    states = [(row["line"], ranks(row, query)) for row in of_kind(found, query, "instant")]
    assert states == [(n, state) for n, _, state in answers.states]


def test_the_plain_program_knows_the_same_settings_with_the_same_defaults() -> None:
    assert asdict(Choices()) == asdict(Semantics())


@pytest.mark.parametrize("case", range(6))
def test_any_choices_give_the_same_answers_by_three_ways(
    case: int, stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Random choices on all points, rows with all faults; 1, 2 and 4 tasks, some end; blocks of any size."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    settings = {name: chance.choice(values) for name, values in CHOICES.items()} if case else {}
    print("settings", json.dumps(settings))
    if chance.random() < 0.5:  # windows with many rows, amounts that differ by cents
        monkeypatch.setattr(messy, "STEPS_S", (0, 30, 60, 60, 120, 200))
        monkeypatch.setattr(messy, "AMOUNTS", ("10.00", "10.01", "10.02", "10.03"))
    lines = messy.messy_lines(chance, 90, taxis=chance.choice((3, 20)), areas=chance.choice((3, 5, 8)))
    choices = Choices(**asdict(Semantics.of(settings)))
    plain = {"1": query1(lines, choices), "2": query2(lines, choices)}

    found = as_spark_solves(lines, settings, chance.choice((1, 5, 30, 1_000)))
    for query, answers in plain.items():
        same_by_spark(found, int(query), answers)
    for tasks in (1, 2, 4):
        storm = Storm(
            *(stage, monkeypatch, chance.randrange(1 << 32)),
            queries=("1", "2"),
            tasks=dict.fromkeys(PARALLEL, tasks),
            shares=tasks,
            conf=Semantics.of(settings).conf(),
        )
        storm.redis.feed(lines, chance, most=40)
        for _ in range(chance.choice((0, 0, 1, 3))):
            for _ in range(chance.randint(0, 300)):
                storm.step()
            storm.end(chance.choice(storm.tasks), late=chance.random() < 0.5)
        storm.settle()
        for query, answers in plain.items():
            folder = tmp_path / f"{tasks}-{query}"
            assert written(folder, query, storm.redis.results[query]) == said(answers)


def test_the_latest_change_outlives_a_lost_task(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Route A lost a trip after B came: A is before B, also when only the last hour shows it."""
    places = {name: f"-73.9{digit}0000,40.750000" for name, digit in zip("ABCDE", "12345", strict=True)}
    trips = [("A", 0), ("A", 20), ("B", 25), ("C", 31), ("D", 45), ("E", 49)]
    lines = [
        f"M{route},L,2013-01-01 00:00:00,2013-01-01 10:{minute:02}:00,60,1,{places[route]},{places[route]},"
        "CSH,1,0,0,0,0,1"
        for route, minute in trips
    ]
    choices = Choices(equal_counts="latest-change")
    conf = Semantics(equal_counts="latest-change").conf()
    storm = Storm(stage, monkeypatch, 1, queries=("1",), conf=conf)
    storm.redis.feed(lines, random.Random(1), most=1)
    coming, storm.redis.rows[:] = list(storm.redis.rows), []
    for entry in coming[:5]:
        storm.redis.rows.append(entry)
        while int(storm.redis.progress.get("released:1", 0)) < len(storm.redis.rows):
            storm.step()
    storm.redis.rows += coming[5:]
    storm.end(("countByWindow", 0), late=False)
    storm.settle()

    plain = query1(lines, choices)
    assert plain != query1(lines)  # else the choice would not matter
    assert storm.redis.begun > 1
    assert written(tmp_path, "1", storm.redis.results["1"]) == said(plain)
