"""The evaluation: rows survive interruptions, figures follow from rows, the report names what is missing."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from benchmarks.placement.__main__ import main
from benchmarks.placement.analysis import at_best, paper_figures, study
from benchmarks.placement.grid import FULL, REDUCED, ProblemKey, Variant
from benchmarks.placement.markdown import seconds
from benchmarks.placement.measure import measure
from benchmarks.placement.plots import plot_steps
from benchmarks.placement.report import report
from benchmarks.placement.rows import COLUMNS, ROWS, Row, append, export, load, table
from benchmarks.placement.steps import growth, layered_problem, step_points, timed_improvements, timed_steps
from benchmarks.placement.tables import proofs
from experiments.machine import Provenance
from scheduler.contract.children import INLINE
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES, SIZES, paper_problem
from scheduler.plan import plan
from scheduler.registry import STRATEGIES, anywhere

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = Provenance("here", "2026-01-01", "abc")


def row(variant: str = "greedy", **changes: object) -> Row:
    """A row of the problem diamond R 36 nodes seed 0."""
    plain = Row(
        application="diamond", objective="R", nodes=36, operators=20, seed=0, variant=variant,
        strategy=variant.split(maxsplit=1)[0], limit_s=None, status="feasible", objective_value=0.2,
        bound=None, response_time_ms=100.0, availability=0.7, network_usage_bytes=1000.0, seconds=0.01,
        best_at_s=None, repeats=1, reason="done", machine="here", date="2026-01-01", commit="abc",
    )  # fmt: skip
    return plain | changes


def test_the_full_grid_is_the_papers() -> None:
    problems = list(FULL.problems())
    assert len(problems) == 3 * 4 * 5 * 5 == len(set(problems))
    assert {each.nodes for each in problems} == {*SIZES} == {36, 49, 64, 81, 100}


@pytest.mark.parametrize("grid", [FULL, REDUCED])
def test_strategies_for_all_problems_are_measured_and_labels_are_unique(grid) -> None:
    variants = grid.variants()
    assert {each.strategy for each in variants} == {*anywhere()}
    assert len({each.label for each in variants}) == len(variants)


def test_a_measured_row_has_the_worth_of_the_placement() -> None:
    key = ProblemKey(0, 36, "sequential", "R")
    problem = paper_problem("sequential", 36, OBJECTIVES["R"], 0)
    variant = next(each for each in FULL.variants() if each.strategy == "local-search")
    made = measure(key, problem, variant, INLINE, ORIGIN)
    low, high = problem.ranges["response_time"]
    assert made.keys() == COLUMNS.keys()
    assert made["status"] == "feasible"
    assert made["objective_value"] == pytest.approx((made["response_time_ms"] - low) / (high - low))
    assert (made["seconds"] > 0, made["commit"], made["operators"]) == (True, "abc", 20)


def test_rows_come_back_as_they_were_appended_and_the_latest_of_a_cell_counts(tmp_path: Path) -> None:
    first, again, other = row(), row(seconds=0.5), row("even")
    for each in (first, other, again):
        append(tmp_path, each)
    assert load(tmp_path) == [other, again]


def test_a_line_that_was_cut_off_is_dropped_and_the_file_stays_usable(tmp_path: Path) -> None:
    append(tmp_path, row())
    with (tmp_path / ROWS).open("ab") as file:
        file.write(b'{"application": "dia')
    assert load(tmp_path) == [row()]
    append(tmp_path, row("even"))
    assert load(tmp_path) == [row(), row("even")]


def test_csv_and_parquet_hold_the_rows(tmp_path: Path) -> None:
    for each in (row(), row("odp", bound=0.1, limit_s=60.0)):
        append(tmp_path, each)
    export(tmp_path)
    wanted = table(load(tmp_path))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "rows.parquet"), wanted)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "rows.csv"), wanted, check_dtype=False)


def test_degradation_and_speed_up_are_those_of_the_paper() -> None:
    """pd = (F_h - F) / (1 - F) and sp = time of odp / time, by hand."""
    rows = [
        row("odp", objective_value=0.2, status="optimal", bound=0.2, seconds=5.0),
        row("greedy", objective_value=0.4, response_time_ms=110.0, seconds=0.5),
    ]
    made = study(table(rows)).rows.set_index("variant")
    assert made.loc["greedy", "degradation"] == pytest.approx(0.2 / 0.8)
    assert made.loc["greedy", "speed_up"] == pytest.approx(10.0)
    assert made.loc["greedy", "excess_r"] == pytest.approx(10.0)
    assert made["certified"].all()
    assert (made["gap"] == 0).all()
    assert at_best(made).tolist() == [True, False]


def test_without_a_proof_the_gap_is_that_of_the_best_bound() -> None:
    rows = [row("odp", objective_value=0.25, bound=0.2), row("greedy", objective_value=0.3)]
    made = study(table(rows)).rows
    assert not made["certified"].any()
    assert made["gap"].tolist() == pytest.approx([0.2, 0.2])


def test_a_value_below_a_proved_bound_is_a_contradiction() -> None:
    rows = [row("odp", objective_value=0.3, bound=0.3, status="optimal"), row("greedy", objective_value=0.2)]
    assert "below the proved bound" in study(table(rows)).contradictions[0]
    assert study(table([row("odp"), row("greedy")])).contradictions == ()


def test_of_several_time_limits_in_a_folder_the_longest_counts() -> None:
    """As after the reduced and the full grid; what the others found and proved remains known."""
    rows = [
        row("odp", limit_s=10.0, objective_value=0.3, bound=0.2, seconds=10.0),
        row("odp", limit_s=60.0, objective_value=0.4, bound=0.1, seconds=60.0),
        row("greedy", objective_value=0.5, seconds=1.0),
    ]
    made = study(table(rows)).rows.set_index("variant")
    assert made["seconds"].to_dict() == {"odp": 60.0, "greedy": 1.0}
    assert made["speed_up"].to_dict() == {"odp": 1.0, "greedy": 60.0}
    assert set(made["best"]) == {0.3}
    assert set(made["limit_below"]) == {0.2}


def test_a_search_that_was_ended_at_the_optimum_is_charged_with_its_time_limit() -> None:
    """It could not know that there is nothing better, so no speed-up follows from when it got there."""
    rows = [
        row("odp", status="optimal", bound=0.2, seconds=4.0, limit_s=60.0),
        row("ils 2 s", seconds=0.01, limit_s=2.0),
    ]
    assert study(table(rows)).rows.set_index("variant").loc["ils 2 s", "speed_up"] == 2.0


def test_a_strategy_that_breaks_down_gives_a_failed_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise IndexError("out of bounds")

    entry = dataclasses.replace(STRATEGIES["even"], solve=broken)
    monkeypatch.setitem(STRATEGIES, "even", entry)
    variant = next(each for each in FULL.variants() if each.strategy == "even")
    problem = paper_problem("diamond", 36, OBJECTIVES["R"], 0)
    made = measure(ProblemKey(0, 36, "diamond", "R"), problem, variant, INLINE, ORIGIN)
    assert made.keys() == COLUMNS.keys()
    assert (made["status"], made["reason"], made["objective_value"]) == (
        *("failed", "IndexError: out of bounds"),
        None,
    )


def test_the_gap_of_odp_is_that_of_its_own_placement() -> None:
    """A better placement of another variant is not its merit."""
    rows = [row("odp", objective_value=0.4, bound=0.2), row("greedy", objective_value=0.25)]
    assert "gap at most 50 %" in proofs(study(table(rows)))


def test_finding_no_placement_where_another_variant_did_is_a_fault() -> None:
    rows = [row("even", status="infeasible", objective_value=None, reason="no room"), row("greedy")]
    (sentence,) = study(table(rows)).contradictions
    assert sentence.endswith("even found no placement, though there is one: no room")


def test_the_report_has_every_section_and_names_failures(tmp_path: Path) -> None:
    """Few rows suffice; what was not measured is shown as a dash."""
    rows = [
        row("odp", objective_value=0.2, status="optimal", bound=0.2, seconds=5.0),
        row("ils 2 s", objective_value=0.21),
        row("even", status="failed", objective_value=None, reason="it broke"),
    ]
    text = report(study(table(rows)), tmp_path)
    for section in ("Targets", "Proofs", "Table 2", "Table 4", "raw units", "Times", "Faults"):
        assert section in text
    assert "even: it broke" in text
    assert "not measured" in text


def test_the_papers_figures_are_complete_and_have_a_source() -> None:
    figures = paper_figures()
    columns = {f"{application} {objective}" for application in APPLICATIONS for objective in OBJECTIVES}
    assert "Table 4" in figures["source"]
    assert all({*each} == columns for each in figures["resolution_time_s"].values())
    for each in figures["table_4"].values():
        assert {*each["speed_up"]} == {*each["degradation"]} == columns | {"average"}
    assert figures["table_4"]["odp-timeout"]["degradation"]["replicated R"] == 0.49


def test_a_second_run_measures_only_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command as it is used: the same folder twice, then with one strategy more."""
    options = ["--out", str(tmp_path), "--sizes", "36", "--applications", "diamond", "--objectives", "R"]

    def run(*strategies: str) -> str:
        monkeypatch.setattr(sys, "argv", ["placement", *options, "--strategies", *strategies])
        main()
        return capsys.readouterr().err

    assert "1 cells to measure" in run("greedy")
    assert "1 cells to measure" in run("greedy", "even")
    lines = (tmp_path / ROWS).read_text().splitlines()
    assert [json.loads(line)["variant"] for line in lines] == ["greedy", "even"]
    assert (tmp_path / "rows.parquet").exists()


def test_an_unknown_strategy_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["placement", "--out", str(tmp_path), "--strategies", "magic"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "unknown strategy 'magic'" in capsys.readouterr().err


def test_growth_of_steps_is_the_exponent(tmp_path: Path) -> None:
    """Time in proportion to the square root of the size has the exponent one half, and is drawn."""
    points = [
        {"kind": "move single", "operators": 1, "nodes": size, "size": size, "seed": 0, "steps": 3,
         "seconds_per_step": size**0.5}
        for size in (100, 1000, 10_000)
    ]  # fmt: skip
    made = step_points({"points": [*points, points[0] | {"steps": 0, "seconds_per_step": None}]})
    assert len(made) == 3
    assert growth(made) == pytest.approx(0.5)
    plot_steps(made, tmp_path / "steps.png")
    assert (tmp_path / "steps.png").stat().st_size > 10_000


def test_only_steps_that_improve_are_timed() -> None:
    """At most as many as asked for, of all three kinds, and none without a time."""
    taken = timed_steps(layered_problem(20, 50, 0), 2)
    assert {*taken} == {"co-locate", "swap resources", "move single"}
    assert all(len(seconds) <= 2 for seconds in taken.values())
    assert any(taken.values())
    assert all(each > 0 for seconds in taken.values() for each in seconds)


def test_improvements_of_the_iterated_search_are_timed_until_there_are_enough() -> None:
    seconds = timed_improvements(layered_problem(20, 50, 0), 2, 5.0)
    assert 1 <= len(seconds) <= 2
    assert all(each > 0 for each in seconds)


def test_a_search_is_ended_at_the_proved_optimum_and_a_proof_is_not() -> None:
    """`ils` stops long before its limit once it has the optimum's value; its own end is by time alone."""
    key = ProblemKey(0, 36, "diamond", "R")
    problem = paper_problem(key.application, key.nodes, OBJECTIVES[key.objective], key.seed)
    optimum = plan(problem, "odp").evaluation
    assert optimum is not None
    search = Variant("ils 1000 s", "ils", 1000.0)
    row = measure(key, problem, search, INLINE, ORIGIN, optimum=optimum.objective)
    assert row["objective_value"] == pytest.approx(optimum.objective)
    assert not Variant("odp", "odp", 60.0).ends_at_optimum
    assert not Variant("hierarchical", "hierarchical", 60.0).ends_at_optimum


@pytest.mark.parametrize(
    ("value", "text"), [(0.0011, "1.1 ms"), (0.0994, "99 ms"), (0.0996, "0.0996 s"), (12.34, "12.3 s")]
)
def test_times_are_written_without_powers_of_ten(value: float, text: str) -> None:
    assert seconds(value) == text
