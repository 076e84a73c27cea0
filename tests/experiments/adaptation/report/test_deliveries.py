"""Rows of a run without the query's own count of rows that passed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from experiments.adaptation.report.adaptation_goals import lost_in_words
from experiments.adaptation.report.deliveries import read_deliveries
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


@pytest.mark.parametrize("expected", [True, False])
def test_the_paced_rows_are_those_after_the_last_fast_one_up_to_the_last_fed(
    tmp_path: Path, *, expected: bool
) -> None:
    """50 fast rows and 60 paced ones, of which row 100 does not pass; row 111 is of another feed."""
    course = Course(duration_s=60.0, rate=1.0, response_ms=lambda _: 50.0)
    turn = write_scenario(tmp_path, "stable", course, expected=expected)
    table = pd.read_csv(turn / "results.csv")
    strangers = table[table["n"].isin([49, 110])].assign(n=[50, 111])
    pd.concat([table, strangers]).to_csv(turn / "results.csv", index=False)
    rows = read_deliveries(turn, read_model(ScenarioDone, turn / "done.json"), tmp_path / "expected")
    assert rows.numbers.tolist() == [n for n in range(51, 111) if n != 100]
    assert set(rows.response_ms.tolist()) == {50.0}
