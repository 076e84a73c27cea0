"""The phases of a scenario of a known course, its rows and its minutes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from experiments.adaptation.report.minutes import find_minutes
from tests.experiments.adaptation.report.adaptation_courses import CHANGES, EVENTS, phases, reached, scenario
from tests.experiments.adaptation.report.adaptation_runs import (
    CALM_MS,
    HOME,
    NEAR,
    NEXT,
    START_S,
    Course,
    put,
    write_scenario,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_phases_show_what_was_put_in(tmp_path: Path) -> None:
    write_scenario(tmp_path, "changes", CHANGES)
    delay, isolate, rejoin = phases(tmp_path)
    assert [each.before_ms for each in (delay, isolate, rejoin)] == [CALM_MS, 68.0, 68.0]
    assert (delay.settled_ms, delay.seen_s, delay.moved_s) == (68.0, 20.0, 40.0)
    assert delay.recovered_s == pytest.approx(50.5, abs=0.3)
    assert delay.during_ms == 144.0
    assert delay.longest_ms == pytest.approx(8_060.0)
    assert [(m.reason, m.executors, m.plan_ms) for m in delay.moves] == [("gain", 3, 150.0)]
    assert (isolate.seen_s, isolate.moved_s, isolate.settled_ms) == (20.0, 30.0, 68.0)
    assert isolate.recovered_s == pytest.approx(47.5, abs=0.3)
    assert [m.reason for m in isolate.moves] == ["lost executors"]
    assert isolate.silence_s == pytest.approx(45.0, abs=0.2)
    assert (delay.lost, isolate.lost, rejoin.lost) == (0, 20, 0)
    assert (rejoin.recovered_s, rejoin.seen_s, rejoin.during_ms, rejoin.moves) == (0.0, 30.0, None, ())


def test_a_late_recovery_and_a_slow_plan_miss_the_target(tmp_path: Path) -> None:
    def late(at_s: float) -> float:
        return 400.0 if 60 <= at_s < 148 else CALM_MS

    write_scenario(tmp_path, "changes", replace(CHANGES, events=EVENTS[:1], response_ms=late, plan_ms=1001.0))
    (delay,) = phases(tmp_path)
    assert delay.recovered_s == pytest.approx(90.5, abs=0.3)
    found = reached(tmp_path, "changes")
    assert found["a delay in use changes: response time back within 90 s"] is False
    assert found["planning of each move under 1 s"] is False


def test_half_of_a_change_must_be_seen(tmp_path: Path) -> None:
    """A third of it is too little; other pairs do not count."""

    def third(pair: frozenset[str], _: float) -> float | None:
        return 22.0 + 15.0 if pair == {HOME, NEAR} else 300.0

    write_scenario(tmp_path, "changes", replace(CHANGES, seen=third))
    assert phases(tmp_path)[0].seen_s is None


def test_rows_without_result_are_counted_by_the_expected_answers(tmp_path: Path) -> None:
    """Without these by the query's own count, unless the component that counts was restarted."""
    folder = write_scenario(tmp_path / "with", "changes", CHANGES)
    rows = scenario(tmp_path / "with", "changes").rows
    assert (rows.lost, rows.wanted, rows.by_expected_answers) == (20, len(rows.numbers) + 49, True)
    assert rows.available_s[rows.response_ms == float("inf")] == pytest.approx(
        [START_S + 160 + n / 10 for n in range(20)], abs=0.011
    )
    folder = write_scenario(tmp_path / "without", "changes", CHANGES, expected=False)
    rows = scenario(tmp_path / "without", "changes").rows
    assert (rows.lost, rows.by_expected_answers) == (20, False)
    summary = json.loads((folder / "summary.json").read_text())
    put(folder / "summary.json", summary | {"began": {"filterByCoordinates": 1700}})
    rows = scenario(tmp_path / "without", "changes").rows
    assert (rows.lost, rows.wanted) == (None, None)
    assert reached(tmp_path / "without", "changes")["no row without result"] is None


def test_the_first_of_several_results_of_a_row_counts(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=120.0, rate=2.0))
    table = pd.read_csv(folder / "results.csv")
    again = table.tail(7).assign(result_ms=lambda each: each["result_ms"] + 15_000)
    pd.concat([again, table]).to_csv(folder / "results.csv", index=False)
    put(folder / "summary.json", json.loads((folder / "summary.json").read_text()) | {"repeated": 3})
    rows = scenario(tmp_path, "stable").rows
    assert rows.repeated == 10
    assert rows.response_ms.max() == CALM_MS


def test_minutes_count_rows_and_moves(tmp_path: Path) -> None:
    course = Course(
        duration_s=150.0,
        response_ms=lambda at_s: None if 70 <= at_s < 71 else 90.0 if at_s >= 60 else CALM_MS,
        remotes={-100.0: NEAR, 120.0: NEXT},
    )
    write_scenario(tmp_path, "noise", course)
    first, second, third = find_minutes(scenario(tmp_path, "noise"))
    assert (first.median_ms, second.p95_ms, third.moves) == (CALM_MS, 90.0, 1)
    assert (first.rows, second.lost, third.rows) == (588, 10, 294)
