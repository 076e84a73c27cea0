"""The report of simulations: all parts are there, and Spark's runs are those of one process."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.layered_run import LayeredRun
from experiments.elasticity.report.elasticity_report import JSON, LEARNING, PICTURE, write_report
from experiments.elasticity.report.layered_summary import (
    days_of,
    layered_figures,
    layered_targets,
    under_loads,
)
from experiments.elasticity.report.summary import of_paper, settings
from experiments.elasticity.scenario_file import read_scenario
from experiments.elasticity.simulation import simulate
from experiments.elasticity.sweep import (
    BTU,
    PAPER_003,
    PAPER_004,
    READINGS,
    TAXI_YEAR,
    THRESHOLD,
    Extent,
    Run,
    Sweep,
    leased_runs,
    run_sweep,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_runs_are_those_of_one_process(spark: SparkSession) -> None:
    patterns = ("two-level",)
    sweep = run_sweep(spark, Extent(1, 1, 1, layered=(), beside=(), loads=(), patterns=patterns))
    for reading, runs in sweep.leased.items():
        assert [run.asked for run in runs] == leased_runs(1, reading, patterns)
    one = sweep.leased["waiting"][0]
    assert one.outcome == simulate(read_scenario(PAPER_003), one.asked)


def test_a_report_has_every_run(tmp_path: Path) -> None:
    """What came of a run of two minutes stands for what came of each."""
    short = read_scenario(PAPER_004).model_copy(update={"duration_min": 2.0, "counted_from_min": 0.0})
    outcome = simulate(short, Asked("static-peak", "even", "small"))
    leased = {
        reading: tuple(Run(asked, outcome) for asked in leased_runs(1, reading)) for reading in READINGS
    }
    asked = Asked("static-peak", TAXI_YEAR, "small", 1)
    layered = LayeredRun(asked, outcome, cost=0.08, least=0.07, day_costs=(0.08,), day_violations=(0.0,))
    sweep = Sweep(leased, (layered,), counted_days=1.0)
    text = write_report(sweep, tmp_path / "out").read_text(encoding="utf-8")
    assert text.count("| walk-2 | 60-minutes | 70 | 92 |") == 2
    assert text.count("| stepwise | 10-minutes | 109.6 (58) | 96.8 (72) |") == 2
    assert "| `static-peak` | 0.00 +- 0.00 |" in text
    for picture in (PICTURE, LEARNING):
        assert (tmp_path / "out" / picture).stat().st_size > 10_000
    kept = json.loads((tmp_path / "out" / JSON).read_text(encoding="utf-8"))
    assert len(kept["runs"]) == sum(len(runs) for runs in leased.values()) + 1
    assert len(kept["targets"]) == 18


@pytest.mark.spark
def test_runs_in_two_layers_have_their_figures(spark: SparkSession) -> None:
    """Of three weeks, beside what hindsight would have cost."""
    sweep = run_sweep(spark, Extent(0, 1, 1, layered=("static-peak",), beside=(), loads=()))
    assert [run.asked for run in sweep.layered] == [Asked("static-peak", TAXI_YEAR, "small", 1)]
    (figures,) = layered_figures(sweep.layered, sweep.counted_days)
    assert figures.cells()[:3] == ["`static-peak`", "0.00 +- 0.00", "33.00 +- 0.00"]


def test_means_have_intervals_and_targets() -> None:
    """Of two seeds, 1 and 3: 2 +- 1.96; targets compare means."""
    run = read_scenario(PAPER_004).model_copy(update={"duration_min": 2.0, "counted_from_min": 0.0})
    outcome = simulate(run, Asked("static-peak", "even", "small"))
    runs = [
        LayeredRun(
            Asked(policy, TAXI_YEAR, "small", seed),
            replace(outcome, periods=(), violations=late, reconfigurations=changes),
            cost=0.08 + late,
            least=0.07,
            day_costs=(0.09, 0.08 + late),
            day_violations=(0.04, late),
        )
        for policy, changes in (
            ("model-based", 2),
            ("model-based-joint", 6),
            ("threshold-layers", 8),
            ("threshold-tuned", 4),
            ("rolling", 1),
            ("hindsight", 1),
        )
        for seed, late in ((1, 0.01), (2, 0.03))
    ]
    found = layered_figures(runs, 1.0)
    assert found[0].cells()[:2] == ["`model-based`", "2.00 +- 1.96"]
    assert found[0].cells()[6:] == ["100.0 +- 19.6", "30.0 +- 19.6"]
    assert [(each.measured, each.reached) for each in layered_targets(found)][:5:4] == [
        ("2.00 %", False),
        ("100%", False),
    ]
    assert [each.reached for each in layered_targets(found)][1:4] == [True] * 3
    joint = [each.reached for each in layered_targets(found)][5:10]
    assert joint == [False, True, True, False, False], "six changes are more than half of eight"
    assert [each.reached for each in layered_targets(found)][10:] == [True, True, False]
    assert days_of(runs)[0] == ["1", *["4.00, 90"] * 6]
    assert days_of(runs)[1][:2] == ["2", "2.00, 100"]
    assert [row[:3] for row in under_loads(runs)][:1] == [[TAXI_YEAR, "`model-based`", "2.00 +- 1.96"]]


def test_the_papers_tables_agree_with_themselves() -> None:
    """Costs with the penalty are above those without, less so the later an item may be."""
    tables = of_paper()
    assert set(tables) == {(each, policy) for each in settings() for policy in (BTU, THRESHOLD)}
    for row in tables.values():
        assert row["real_time"] < row["near"] < row["relaxed"]
        assert row["resource"] < row["relaxed_total"] < row["near_total"] < row["real_time_total"]
    near = [tables[each, BTU]["near_total"] < tables[each, THRESHOLD]["near_total"] for each in settings()]
    assert all(near)
