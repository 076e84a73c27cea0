"""The report of a small simulation: all parts are there, and Spark's runs are those of one process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from experiments.replacement.day import DAY_RULES
from experiments.replacement.report.simulation_report import JSON, PICTURE, write_report
from experiments.replacement.simulation import Setting, simulate
from experiments.replacement.sweep import Extent, run_sweep, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_report_has_every_run(spark: SparkSession, tmp_path: Path) -> None:
    extent = Extent(seeds=1, calm_runs=1, changes=2)
    counts: list[tuple[int, int]] = []
    sweep = run_sweep(spark, extent, lambda done, every: counts.append((done, every)))
    assert [each.setting for each in sweep.outcomes] == settings_of(extent)
    assert sweep.outcomes[0] == simulate(Setting("static", scenario="table-2", seed=extent.first_seed))
    assert counts
    assert all(0 <= done <= every for done, every in counts)
    text = write_report(sweep, tmp_path / "out").read_text(encoding="utf-8")
    assert "| 1.98 | 1.62 |" in text
    assert text.count("\n| response time of the model, s |") == 3
    assert "| nothing but an availability | 2 |" in text
    assert (tmp_path / "out" / PICTURE).stat().st_size > 10_000
    kept = json.loads((tmp_path / "out" / JSON).read_text(encoding="utf-8"))
    assert len(kept["runs"]) == len(sweep.outcomes)
    assert {each["rule"] for each in kept["days"]} == set(DAY_RULES)
    assert "\n| rolling horizon | 0.000 |" in text
