"""Sweeps: every run once, kept over interruptions, and never mixed with runs of other settings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from experiments.sweep.distribute import run_missing, write_runs
from experiments.sweep.one_run import FAILED
from experiments.sweep.sweep_folder import SETTINGS, SweepFolder
from experiments.sweep.sweep_plan import Instance, SweepPlan, read_seeds
from experiments.sweep.sweep_summary import by_instance, by_strategy
from experiments.sweep.worker import SCHEMA, carry_out
from replay.errors import DataError
from scheduler.instances.document import parse_instance
from scheduler.plan import plan as solve

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def document(*, slots: int = 2, far_ms: float = 50.0) -> dict[str, Any]:
    """Two operators that talk, three nodes; the first two nodes are near each other."""
    names = ("a", "b", "c")
    return {
        "application": {
            "operators": [
                {"name": "source", "execution_time_ms": 1.0, "allowed": ["a"]},
                {"name": "sink", "execution_time_ms": 1.0},
                {"name": "end", "execution_time_ms": 1.0},
            ],
            "streams": [
                {"from": "source", "to": "sink", "rate": 10.0, "tuple_bytes": 100.0},
                {"from": "sink", "to": "end", "rate": 10.0, "tuple_bytes": 100.0},
            ],
        },
        "network": {
            "nodes": [{"name": name, "capacity": {"slots": slots}} for name in names],
            "delay_ms": [[0.0, 5.0, far_ms], [5.0, 0.0, far_ms], [far_ms, far_ms, 0.0]],
        },
    }


def instance(name: str = "small", **changes: Any) -> Instance:
    return Instance(name, json.dumps(document(**changes)))


PLAN = SweepPlan((instance(),), ("greedy", "even", "odp"), (0, 1), None)


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", (3,)), ("0-4", (0, 1, 2, 3, 4)), ("7, 0-2,1", (0, 1, 2, 7)), ("5-5", (5,))]
)
def test_seeds_are_read_each_once_and_in_order(text: str, seeds: tuple[int, ...]) -> None:
    assert read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "-1", "4-2", "1-", "1,,2", "1.5", "0-4-8", "²"])
def test_what_is_no_list_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"seed|range"):
        read_seeds(text)


def test_two_instances_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match="two instances have the name small"):
        SweepPlan((instance(), instance(far_ms=1.0)), ("greedy",), (0,), None)


def test_a_part_has_another_name_for_another_name_content_strategy_or_seed() -> None:
    first = PLAN.runs()[0]
    others = [
        replace(first, instance="x"),
        replace(first, digest="0" * 64),
        replace(first, strategy="x"),
        replace(first, seed=9),
    ]

    assert len({first.part, *(other.part for other in others)}) == 5


def test_a_run_leaves_what_the_decision_core_answers(tmp_path: Path) -> None:
    run = next(run for run in PLAN.runs() if run.strategy == "odp")

    done = carry_out(run, {run.digest: PLAN.instances[0].text}, PLAN, tmp_path)

    assert done.failure is None
    (row,) = pq.read_table(tmp_path / run.part).to_pylist()
    expected = solve(parse_instance(document()), "odp", seed=run.seed)
    assert expected.evaluation is not None
    assert row["status"] == "optimal"
    assert row["objective"] == expected.evaluation.objective
    assert row["response_time_ms"] == expected.evaluation.response_time_ms
    assert row["availability"] == expected.evaluation.values["availability"]
    assert row["network_usage_bytes"] == expected.evaluation.values["network_usage"]
    assert row["bound"] == expected.bound
    assert list(row) == SCHEMA.names
    assert expected.placement is not None
    assert row["placement"] == ["abc"[node] for node in expected.placement.tolist()]
    assert row["better_objective"] == sorted(row["better_objective"], reverse=True)
    assert row["better_objective"][-1] == row["objective"]
    assert row["better_at_s"] == sorted(row["better_at_s"])
    assert row["better_at_s"][-1] <= row["seconds"]


def test_an_infeasible_run_is_a_result_without_figures(tmp_path: Path) -> None:
    run = replace(PLAN.runs()[0], strategy="greedy")

    done = carry_out(run, {run.digest: json.dumps(document(slots=0))}, PLAN, tmp_path)

    assert done.failure is None
    (row,) = pq.read_table(tmp_path / run.part).to_pylist()
    assert row["status"] == "infeasible"
    assert row["objective"] is None
    assert row["placement"] is None
    assert row["reason"]


def test_a_run_that_breaks_down_leaves_no_part(tmp_path: Path) -> None:
    run = PLAN.runs()[0]

    done = carry_out(run, {run.digest: "{}"}, PLAN, tmp_path)

    assert done.failure == 'ModelError: $: "application" is missing'
    assert list(tmp_path.iterdir()) == []


def test_a_folder_goes_on_with_the_same_settings_and_forgets_half_written_parts(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path / "sweep")
    assert folder.open(PLAN) == frozenset()
    run = PLAN.runs()[0]
    carry_out(run, {run.digest: PLAN.instances[0].text}, PLAN, folder.parts)
    half = folder.parts / f".{PLAN.runs()[1].part}-17"
    half.write_bytes(b"PAR1")

    more = replace(PLAN, instances=(*PLAN.instances, instance("other", far_ms=9.0)), seeds=(0, 1, 2))

    assert folder.open(more) == {run.part}
    assert not half.exists()
    assert folder.open(PLAN) == {run.part}
    assert sorted(json.loads((folder.path / SETTINGS).read_text())["instances"]) == ["other", "small"]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (replace(PLAN, time_limit_s=2.0), "time_limit_s: the folder's runs were made with no time limit"),
        (replace(PLAN, until_deadline=False), "until_deadline: the folder's runs were made with all of the"),
        (replace(PLAN, instances=(instance(far_ms=1.0),)), "instances.small: the folder holds results of"),
    ],
)
def test_other_settings_in_the_same_folder_are_refused_and_change_nothing(
    tmp_path: Path, other: SweepPlan, sentence: str
) -> None:
    folder = SweepFolder(tmp_path)
    folder.open(PLAN)
    before = (tmp_path / SETTINGS).read_bytes()

    with pytest.raises(DataError, match=sentence):
        folder.open(other)

    assert (tmp_path / SETTINGS).read_bytes() == before


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(DataError, match="the folder holds other files"):
        SweepFolder(tmp_path).open(PLAN)


@pytest.mark.spark
def test_a_sweep_runs_what_is_missing_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    """Parts of finished runs stay untouched; failed runs are named, listed and tried again."""
    folder = SweepFolder(tmp_path / "sweep")
    folder.open(PLAN)
    finished: list[int] = []
    assert run_missing(spark, PLAN, folder, finished.append) == []
    assert finished[-1] == 6
    stamps = {path.name: path.stat().st_mtime_ns for path in folder.parts.iterdir()}
    assert stamps.keys() == {run.part for run in PLAN.runs()}

    broken = Instance("broken", "{}")
    more = replace(PLAN, instances=(*PLAN.instances, broken), seeds=(0, 1, 2))
    folder.open(more)
    failed = run_missing(spark, more, folder)
    assert {(each.run.instance, each.run.seed) for each in failed} == {("broken", s) for s in (0, 1, 2)}
    assert {name: (folder.parts / name).stat().st_mtime_ns for name in stamps} == stamps

    rows = write_runs(spark, folder, failed).collect()
    assert len(rows) == 18
    assert {row["gap"] for row in rows if row["strategy"] == "odp" and row["status"] == "optimal"} == {0.0}
    best = min(row["objective"] for row in rows if row["objective"] is not None)
    for row in rows:
        if row["status"] == FAILED:
            assert row["objective"] is None
            assert "ModelError" in row["reason"]
        elif row["objective"]:
            assert row["gap"] == pytest.approx((row["objective"] - best) / row["objective"])
    table = write_runs(spark, folder, [])
    assert table.count() == 9
    summary = {each.strategy: each for each in by_strategy(table)}
    assert summary["odp"].optimal == summary["odp"].best == summary["odp"].runs == 3
    (one,) = by_instance(table)
    assert one.best == best
    assert "odp" in one.strategies
