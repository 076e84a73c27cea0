"""What a scenario keeps can be read again, and what was spoiled is named with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from experiments.adaptation.report.kept import (
    Event,
    PlannedRound,
    read_events,
    read_rounds,
    write_events,
    write_rounds,
)
from experiments.folder_content import experiment_kind
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = (
    Event(time_s=1.5, kind="delay", sites=("a", "b"), delay_ms=66.0, delays=(("a", "b", 66.0),), text="now"),
    Event(time_s=2.5, kind="isolate", sites=("b",), text="b is cut off"),
)
ROUND = PlannedRound(
    time_s=1.0,
    plan_ms=5.0,
    timed_out=False,
    assigned=True,
    executors_moved=1,
    workers_moved=1,
    gain=0.25,
    status="moved: Räume",
    response_time_ms=None,
    objective=0.1,
    bound=0.05,
    hosts={1: "a-1", 12: None},
    delays=(("a", "b", 22.0, "site median"),),
)


def test_events_and_rounds_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_events(tmp_path / "events.json", EVENTS)
    write_rounds(tmp_path / "rounds.jsonl", (ROUND, ROUND))
    assert read_events(tmp_path / "events.json") == EVENTS
    assert read_rounds(tmp_path / "rounds.jsonl") == (ROUND, ROUND)
    assert len((tmp_path / "rounds.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    write_events(tmp_path / "events.json", ())
    assert read_events(tmp_path / "events.json") == ()


def test_files_that_are_missing_or_of_another_form_are_named(tmp_path: Path) -> None:
    """With the line, the index and the field, and the rule that is broken."""
    events, rounds = tmp_path / "events.json", tmp_path / "rounds.jsonl"
    with pytest.raises(DataError, match=r"events\.json: no such file"):
        read_events(events)
    with pytest.raises(DataError, match=r"rounds\.jsonl: no such file"):
        read_rounds(rounds)
    write_events(events, EVENTS)
    events.write_text(events.read_text(encoding="utf-8").replace("isolate", "explode"), encoding="utf-8")
    with pytest.raises(DataError, match=r"events\.json: 1\.kind: Input should be 'delay'"):
        read_events(events)
    write_rounds(rounds, (ROUND, ROUND.model_copy(update={"executors_moved": -1})))
    with pytest.raises(
        DataError, match=r"rounds\.jsonl, line 2: executors_moved: .*greater than or equal to 0"
    ):
        read_rounds(rounds)
    rounds.write_text("[", encoding="utf-8")
    with pytest.raises(DataError, match=r"rounds\.jsonl, line 1: Invalid JSON"):
        read_rounds(rounds)


def test_a_folder_says_which_experiment_it_holds(tmp_path: Path) -> None:
    """One that says nothing is of the experiment that was there before folders said it."""
    with pytest.raises(DataError, match=r"no experiment's folder \(experiment\.json is missing\)"):
        experiment_kind(tmp_path)
    (tmp_path / "experiment.json").write_text('{"rate": 10.0}', encoding="utf-8")
    assert experiment_kind(tmp_path) == "response-time"
    (tmp_path / "experiment.json").write_text('{"experiment": "adaptation"}', encoding="utf-8")
    assert experiment_kind(tmp_path) == "adaptation"
