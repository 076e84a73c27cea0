"""The evaluation over edge, fog and cloud: its problems, what is read of its runs, and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.sweep.distribute import run_missing, write_runs
from experiments.sweep.sweep_folder import SweepFolder
from experiments.sweep.sweep_plan import Instance
from experiments.tiers.cases import STRATEGY_NAMES, Case, Extent, sweep_of
from experiments.tiers.report.summary import figures, gap_over_time, over_sets, targets
from experiments.tiers.report.tiers_report import write_report
from experiments.tiers.runs import CLOUD, COLOCATE, EXACT, OURS, TierRun, on_tiers, runs_of
from scheduler.instances.document import parse_instance
from scheduler.plan import plan as solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

GAPS = {
    EXACT: 0.0,
    "inop-search": 0.001,
    "inop-sequential": 0.004,
    COLOCATE: 0.02,
    "inop-pin": 0.07,
    "inop-restrict": 0.08,
    "inop-comb-2": 0.085,
    "inop-comb-3": 0.09,
    "inop-comb-1": 0.2,
    CLOUD: 2.5,
}
SECONDS = {EXACT: 10.0, "inop-search": 1.0, "inop-sequential": 1.5, "inop-comb-2": 2.0}


def made(case: Case, **changes: object) -> list[TierRun]:
    """Runs of all strategies on a problem whose least cost is 100."""
    return [
        replace(
            TierRun(
                case=case,
                strategy=name,
                cost=100.0 * (1.0 + gap),
                proved=name == EXACT,
                seconds=SECONDS.get(name, 0.5),
                placement=None,
                better=(),
                gap=gap,
            ),
            **changes,  # type: ignore[arg-type]  # of any attribute
        )
        for name, gap in GAPS.items()
    ]


def several() -> list[TierRun]:
    """The largest and the smallest network, both with few and with many graphs."""
    return [run for u in (1, 3) for k in (1, 11) for run in made(Case(u, k, 0))]


def test_problems_of_an_extent() -> None:
    cases = Extent(seeds=2, variant_seeds=1).cases()

    assert len(cases) == 2 * 3 * 11 + 3 * 3 * 3
    assert len({case.name for case in cases}) == len(cases)
    assert {case.main for case in cases[: 2 * 33]} == {True}
    assert {case.main for case in cases[2 * 33 :]} == {False}
    assert cases[10] == Case(1, 11, 0)
    assert cases[10].graphs == 15


def test_instances_are_the_problems() -> None:
    """What a run reads from its text has the same best placement as the problem itself."""
    plan = sweep_of(Extent(seeds=1, variant_seeds=0))

    assert plan.strategies == STRATEGY_NAMES
    assert not plan.until_deadline
    assert len(plan.instances) == 33
    case = Case(1, 1, 0)
    (text,) = (each.text for each in plan.instances if each.name == case.name)
    read, written = (
        solve(problem, "inop-exact") for problem in (parse_instance(json.loads(text)), case.problem())
    )
    assert read.evaluation is not None
    assert written.evaluation is not None
    assert read.evaluation.objective == pytest.approx(written.evaluation.objective)


def test_figures_of_strategies() -> None:
    runs = several()
    found = {each.strategy: each for each in figures(runs)}

    assert list(found) == list(STRATEGY_NAMES)
    assert found[EXACT].saving == 0.0
    assert found["inop-search"].saving == pytest.approx(0.9)
    assert found["inop-search"].mean_gap == pytest.approx(0.001)
    assert found[CLOUD].solved == found[CLOUD].runs == 4
    assert over_sets(runs, lambda each: each.mean_gap)[COLOCATE] == [
        (5, pytest.approx(0.02)),
        (15, pytest.approx(0.02)),
    ]


def test_what_found_no_placement_has_no_gap() -> None:
    (first, *others) = [run for run in several() if run.strategy == COLOCATE]
    (found,) = figures([replace(first, cost=None, gap=None), *others, *exact_of(several())])[1:]

    assert found.solved == 3
    assert found.mean_gap == pytest.approx(0.02)


def exact_of(runs: list[TierRun]) -> list[TierRun]:
    return [run for run in runs if run.strategy == EXACT]


def test_all_goals_are_met() -> None:
    found = targets(several())

    assert [
        target.text for target in found if not target.reached and "heuristics: gap" not in target.text
    ] == []
    (mean,) = [target for target in found if "heuristics: gap below" in target.text]
    assert not mean.reached
    assert mean.measured == "above: `inop-comb-1` 20.0%"


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("optima proved", lambda run: replace(run, proved=False)),
        ("100 nodes, 54 operators", lambda run: replace(run, seconds=31.0)),
        ("`inop-search`: gap", lambda run: replace(run, gap=0.031) if run.strategy in OURS else run),
        (
            "`inop-search`: at most the time",
            lambda run: replace(run, seconds=3.0 if run.strategy in OURS else 2.0),
        ),
        ("`inop-search`: never stuck", lambda run: replace(run, cost=None) if run.strategy in OURS else run),
        ("largest gap about", lambda run: replace(run, gap=0.3)),
        (
            "least gap with co-location",
            lambda run: replace(run, gap=0.5) if run.strategy == COLOCATE else run,
        ),
        ("cloud alone", lambda run: replace(run, gap=1.0)),
    ],
)
def test_each_goal_can_be_missed(text: str, broken: Callable[[TierRun], TierRun]) -> None:
    missed = [target for target in targets([broken(run) for run in several()]) if not target.reached]

    assert any(text in target.text for target in missed)


def test_gap_over_time() -> None:
    """A mean only when all runs have a placement; those without one at the end do not count."""
    early = replace(
        made(Case(1, 1, 0))[0], cost=100.0, gap=0.0, seconds=4.0, better=((1.0, 120.0), (3.0, 100.0))
    )
    late = replace(early, better=((2.0, 110.0),))
    none = replace(early, cost=None, gap=None)

    found = gap_over_time([early, late, none], [0.5, 1.5, 2.5, 5.0])

    assert found == [None, None, pytest.approx(0.15), pytest.approx(0.0)]


@pytest.mark.spark
def test_from_runs_on_spark_to_the_report(spark: SparkSession, tmp_path: Path) -> None:
    """Real runs of two strategies on one problem; the others of the report are made."""
    case = Case(1, 1, 0)
    whole = sweep_of(Extent(seeds=1, variant_seeds=0))
    own = tuple(each for each in whole.instances if each.name == case.name)
    # a proof may take longer on a machine that others use, too
    plan = replace(whole, instances=own, strategies=(EXACT, CLOUD), time_limit_s=300.0)
    folder = SweepFolder(tmp_path / "sweep")
    folder.open(plan)
    failed = run_missing(spark, plan, folder)
    cloud, exact = runs_of(write_runs(spark, folder, failed), [case])

    assert exact.proved
    assert exact.gap == 0.0
    assert exact.better[-1][1] == pytest.approx(exact.cost)
    assert on_tiers([cloud]) == {"edge": 0.0, "fog": 0.0, "cloud": 17.0}
    assert sum(on_tiers([exact]).values()) == 17.0
    assert cloud.gap is not None
    assert cloud.gap > 0.5

    report = write_report(
        [*several(), *made(replace(case, prices="pair", bandwidth=1.0), cost=None, gap=None)], tmp_path
    )
    text = report.read_text(encoding="utf-8")
    assert "| `inop-search` | 4 of 4 |" in text
    assert "| 1 x | pair | 1 | 1 | 0 |" in text
    assert {path.name for path in tmp_path.glob("*.png")} == {"strategies.png", "trade-off.png"}

    broken = replace(plan, instances=(Instance(case.name, "{}"),))
    other = SweepFolder(tmp_path / "other")
    other.open(broken)
    assert runs_of(write_runs(spark, other, run_missing(spark, broken, other)), [case]) == ()
