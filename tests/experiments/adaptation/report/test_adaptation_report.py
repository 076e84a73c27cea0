"""The adaptation experiment's report as a whole: text, pictures, figures, and files that are spoilt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import matplotlib.image
import pandas as pd
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from experiments.adaptation.report.adaptation_report import build
from experiments.adaptation.report.kept import read_rounds, write_rounds
from experiments.adaptation.report.panels import Clock, draw_delays
from replay.errors import DataError, MachineError
from tests.experiments.adaptation.report.adaptation_courses import CHANGES, EVENTS, SITES, scenario
from tests.experiments.adaptation.report.adaptation_runs import (
    HOME,
    NEAR,
    NEXT,
    THIRD,
    Course,
    event,
    put,
    write_scenario,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_report_holds_all_finished_scenarios(tmp_path: Path) -> None:
    """From the kept files alone, and again with the same result; infinities are no JSON."""
    write_scenario(tmp_path, "changes", CHANGES)
    noise = [event("noise", 10.0 * n, HOME, NEAR, delay_ms=20.0 + n) for n in range(10)]
    write_scenario(tmp_path, "noise", Course(duration_s=100.0, rate=2.0, events=noise))
    (tmp_path / "turns" / "stable").mkdir()
    text = build(tmp_path).read_text(encoding="utf-8")
    out = tmp_path / "report"
    assert sorted(path.name for path in out.iterdir()) == [
        *("report.json", "report.md", "timeline-changes.png", "timeline-noise.png"),
    ]
    assert "| no move in an hour without change | the scenario has not been run | not measured |" in text
    assert "3 (lost executors)" in text
    assert "20 of 3,381 by the expected answers" in text

    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads((out / "report.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert [len(each["phases"]) for each in document["scenarios"]] == [3, 0]
    picture = matplotlib.image.imread(out / "timeline-changes.png")
    assert picture.shape[0] > 900
    assert build(tmp_path).read_text(encoding="utf-8") == text


def test_the_command_knows_the_experiment_by_its_folder(tmp_path: Path) -> None:
    write_scenario(tmp_path, "stable", Course(duration_s=60.0, rate=2.0))
    done = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "timeline-stable.png").is_file()
    put(tmp_path / "experiment.json", {"experiment": "tea"})
    refused = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert isinstance(refused.exception, UserError)
    assert "experiment.json: experiment: 'tea' is not one of" in str(refused.exception)


@pytest.mark.parametrize("derived", [False, True])
def test_the_timeline_marks_delays_that_were_not_measured_and_hides_no_line(
    tmp_path: Path, derived: bool
) -> None:
    """Two links of one delay: the one that is drawn first is wider, and both have a white edge."""
    seen = (lambda _pair, at_s: 28.0 if at_s > 20 else None) if derived else (lambda *_: None)
    course = Course(duration_s=60.0, rate=2.0, remotes={-100.0: NEXT, 30.0: THIRD}, seen=seen)
    write_scenario(tmp_path, "stable", course)
    axes = Figure().add_subplot()
    data = scenario(tmp_path, "stable")

    draw_delays(axes, data, SITES, Clock(data.start_s, data.end_s))

    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    marks = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert ("not measured directly" in labels, bool(marks)) == (derived, derived)
    lines = [line for line in axes.lines if line.get_path_effects()]
    widths = [line.get_linewidth() for line in lines]
    assert len(lines) == 2
    assert widths[0] > widths[1] + 2
    assert all(mark.get_markersize() > max(widths) and mark.get_zorder() > 3.5 for mark in marks)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda turn: (turn / "done.json").write_text("{}"), r"done\.json: scenario: Field required"),
        (lambda turn: change(turn / "done.json", ended_s=1.0), r"done\.json: ended_s: not after started_s"),
        (lambda turn: (turn / "results.csv").unlink(), r"results\.csv: no such file"),
        (lambda turn: (turn / "results.csv").write_text("n\n1\n"), r"results\.csv: line 1: column row_ms"),
        (lambda turn: cut(turn / "results.csv", 30), r"results\.csv: none of the paced rows 51 to 650"),
        (
            lambda turn: turned(turn / "results.csv"),
            r"results\.csv: line 4: the result is older than its row",
        ),
        (lambda turn: (turn / "summary.json").unlink(), r"summary\.json: no such file"),
        (lambda turn: change(turn / "summary.json", passed=-1), r"summary\.json: passed"),
        (lambda turn: (turn / "events.json").unlink(), r"events\.json: no such file"),
        (lambda turn: edit_event(turn, sites=["atlantis"]), r"events\.json: 0: atlantis is no site"),
        (
            lambda turn: edit_event(turn, time_s=9e9),
            r"events\.json: 1\.time_s: earlier than the event before",
        ),
        (
            lambda turn: (turn / "rounds.jsonl").write_text(""),
            r"rounds\.jsonl: no round gave the query slots",
        ),
        (lambda turn: (turn / "rounds.jsonl").write_text("{}\n"), r"rounds\.jsonl, line 1: time_s"),
        (lambda turn: backwards(turn / "rounds.jsonl"), r"rounds\.jsonl: rounds are out of order"),
        (lambda turn: (turn / "placement.json").unlink(), r"placement\.json: no such file"),
        (lambda turn: put(turn / "verdict.json", {}), r"verdict\.json: equal: Field required"),
        (
            lambda turn: (expected(turn) / "passed.parquet").write_text("x"),
            r"passed\.parquet: cannot be read",
        ),
        (lambda turn: (expected(turn) / "passed.parquet").unlink(), r"passed\.parquet: cannot be read"),
    ],
)
def test_kept_files_that_are_missing_or_malformed_are_named(tmp_path: Path, spoil: Any, message: str) -> None:
    turn = write_scenario(tmp_path, "changes", Course(duration_s=60.0, events=EVENTS[:2]))
    spoil(turn)
    with pytest.raises(DataError, match=message):
        build(tmp_path)


def test_a_report_that_cannot_be_written_is_no_fault_of_the_kept_files(tmp_path: Path) -> None:
    write_scenario(tmp_path, "stable", Course(duration_s=60.0))
    (tmp_path / "report").touch()
    with pytest.raises(MachineError, match="report: cannot be written: "):
        build(tmp_path)


def expected(turn: Path) -> Path:
    return turn.parents[1] / "expected"


def change(path: Path, **values: Any) -> None:
    put(path, json.loads(path.read_text()) | values)


def edit_event(turn: Path, **values: Any) -> None:
    events = json.loads((turn / "events.json").read_text())
    events[0] |= values
    (turn / "events.json").write_text(json.dumps(events))


def cut(path: Path, lines: int) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:lines]))


def turned(path: Path) -> None:
    table = pd.read_csv(path)
    table.loc[2, "result_ms"] = table.loc[2, "row_ms"] - 1
    table.to_csv(path, index=False)


def backwards(path: Path) -> None:
    write_rounds(path, read_rounds(path)[::-1])
