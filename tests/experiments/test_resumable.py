"""Verifying the answers of finished turns: each once, against expected answers that are computed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.progress import StepProgress
from experiments.resumable import verify_and_report
from experiments.topologies import taxi_query

DATA = Path("rows.csv")


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Verify an experiment of two finished scenarios and one that is not; returns what Spark was asked."""
    asked: list[tuple[list[str], Path | None]] = []

    def evaluate(expected: Path, turns: list[Path], *, source: Path | None, say: Any) -> list[Any]:
        say("expected answers")
        asked.append(([turn.name for turn in turns], source))
        expected.mkdir(exist_ok=True)
        (expected / "summary.json").touch()
        for turn in turns:
            (turn / "verdict.json").touch()
        return []

    monkeypatch.setattr(taxi_query, "evaluate_runs", evaluate)
    (tmp_path / "experiment.json").write_text("{}", encoding="utf-8")
    for name in ("changes", "noise", "stable"):
        (tmp_path / "turns" / name).mkdir(parents=True)
    for name in ("changes", "noise"):
        (tmp_path / "turns" / name / "done.json").touch()

    def run() -> list[tuple[list[str], Path | None]]:
        asked.clear()
        verify = taxi_query.taxi_query(DATA).verify
        verify_and_report(tmp_path, verify, lambda out: out / "report.md", StepProgress(total=2))
        return list(asked)

    return run


def test_finished_scenarios_are_compared_with_the_expected_answers(verified: Any, tmp_path: Path) -> None:
    """They are computed first, from the same rows."""
    assert verified() == [(["changes", "noise"], DATA)]
    assert (tmp_path / "turns" / "noise" / "verdict.json").is_file()


def test_a_scenario_is_verified_once(verified: Any, tmp_path: Path) -> None:
    """One that was finished later is compared with the answers that are there."""
    verified()
    assert verified() == []
    (tmp_path / "turns" / "stable" / "done.json").touch()
    assert verified() == [(["stable"], None)]
