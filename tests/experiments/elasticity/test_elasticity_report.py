"""The report of a small simulation: all parts are there, and Spark's runs are those of one process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from experiments.elasticity.report.elasticity_report import JSON, PICTURE, write_report
from experiments.elasticity.report.summary import of_paper, settings
from experiments.elasticity.scenario_file import read_scenario
from experiments.elasticity.simulation import simulate
from experiments.elasticity.sweep import BTU, PAPER_003, THRESHOLD, run_sweep, runs_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_report_has_every_run(spark: SparkSession, tmp_path: Path) -> None:
    runs = run_sweep(spark, 1)
    assert [(run.asked, run.reading) for run in runs] == runs_of(1)
    assert runs[0].outcome == simulate(read_scenario(PAPER_003), runs[0].asked)
    text = write_report(runs, tmp_path / "out").read_text(encoding="utf-8")
    assert text.count("| walk-2 | 60-minutes | 70 | 92 |") == 2
    assert text.count("| stepwise | 10-minutes | 109.6 (58) | 96.8 (72) |") == 2
    assert (tmp_path / "out" / PICTURE).stat().st_size > 10_000
    kept = json.loads((tmp_path / "out" / JSON).read_text(encoding="utf-8"))
    assert len(kept["runs"]) == len(runs)
    assert len(kept["targets"]) == 14


def test_the_papers_tables_agree_with_themselves() -> None:
    """Costs with the penalty are above those without, less so the later an item may be."""
    tables = of_paper()
    assert set(tables) == {(each, policy) for each in settings() for policy in (BTU, THRESHOLD)}
    for row in tables.values():
        assert row["real_time"] < row["near"] < row["relaxed"]
        assert row["resource"] < row["relaxed_total"] < row["near_total"] < row["real_time_total"]
    near = [tables[each, BTU]["near_total"] < tables[each, THRESHOLD]["near_total"] for each in settings()]
    assert all(near)
