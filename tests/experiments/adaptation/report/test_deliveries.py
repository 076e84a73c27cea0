"""Rows of a run whose query has never told how many passed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from experiments.adaptation.report.deliveries import read_deliveries
from experiments.adaptation.report.goals import lost_in_words
from experiments.adaptation.report.kept import ScenarioDone
from experiments.folder_content import read_model
from tests.experiments.adaptation.report.adaptation_runs import Course, write_scenario

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("expected", [True, False])
def test_lost_rows_of_a_run_without_its_end_are_counted_by_the_expected_answers(
    tmp_path: Path, *, expected: bool
) -> None:
    """A row each second for a minute after 50 fast ones; two do not pass, and ten have no result."""
    course = Course(duration_s=60.0, rate=1.0, response_ms=lambda at_s: None if 20 <= at_s < 30 else 50.0)
    turn = write_scenario(tmp_path, "stable", course, expected=expected)
    summary = json.loads((turn / "summary.json").read_text(encoding="utf-8"))
    (turn / "summary.json").write_text(json.dumps(summary | {"passed": None, "faults": ["no final entry"]}))
    rows = read_deliveries(turn, read_model(ScenarioDone, turn / "done.json"), tmp_path / "expected")
    assert rows.by_expected_answers is expected
    assert (rows.wanted, rows.lost) == ((108, 10) if expected else (None, None))
    if not expected:
        assert lost_in_words(rows).endswith("anew, or the query did not come to its end")
