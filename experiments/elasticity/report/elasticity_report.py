"""Puts the report of simulated elasticity together."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from experiments.elasticity.layered_run import LayeredRun
from experiments.elasticity.report.figures import draw_learning, draw_over_time
from experiments.elasticity.report.layered_summary import (
    days_of,
    layered_figures,
    layered_targets,
    under_loads,
)
from experiments.elasticity.report.summary import figures, of_paper, settings, targets
from experiments.elasticity.sweep import (
    BTU,
    HINDSIGHT,
    LEARNED_AS_WRITTEN,
    OFFERS,
    POLICIES,
    READINGS,
    THRESHOLD,
)
from experiments.machine import provenance
from experiments.reports.rendered import render, report_folder
from replay.output import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.elasticity.sweep import Run, Sweep

MARKDOWN, PICTURE, LEARNING, JSON = "report.md", "over-time.png", "learning.png", "report.json"


def write_report(sweep: Sweep, out: Path) -> Path:
    """Write the report of all runs.

    Args:
        sweep: The runs.
        out: Folder of the report.

    Returns:
        The Markdown file.

    Raises:
        MachineError: It cannot be written.
    """
    found = {reading: figures(runs) for reading, runs in sweep.leased.items()}
    layered = layered_figures(sweep.layered, sweep.counted_days)
    checks = [*targets(found), *layered_targets(layered)]
    first = sweep.leased[READINGS[0]]
    seeds = {run.asked.seed for run in first}
    with report_folder(out):
        shown = [run for run in first if (run.asked.offer, run.asked.seed) == (OFFERS[0], min(seeds))]
        draw_over_time(out / PICTURE, shown)
        draw_learning(out / LEARNING, _learning(sweep))
        text = render(
            "elasticity/report/elasticity.md.j2",
            provenance=provenance().line(),
            targets=checks,
            seeds=len(seeds),
            settings=settings(),
            policies=POLICIES,
            found=found,
            paper=of_paper(),
            compared=(THRESHOLD, BTU),
            layered=[each.cells() for each in layered],
            beside=[each.cells() for each in layered_figures(sweep.beside, sweep.counted_days)],
            beside_seeds=len({run.asked.seed for run in sweep.beside}),
            by_day=days_of(sweep.layered),
            by_load=under_loads(sweep.other_loads),
            layered_seeds=len({run.asked.seed for run in sweep.layered}),
            days=sweep.counted_days,
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    runs: list[Run | LayeredRun] = [run for own in sweep.leased.values() for run in own]
    runs += (*sweep.layered, *sweep.beside, *sweep.other_loads)
    write_json(
        out / JSON,
        {
            "provenance": provenance().line(),
            "targets": [asdict(each) for each in checks],
            "runs": [{**asdict(run.asked), **_without_periods(run)} for run in runs],
        },
    )
    return out / MARKDOWN


def _learning(sweep: Sweep) -> list[LayeredRun]:
    """Return the runs that learn, and those of thresholds beside them."""
    many = [run for run in sweep.layered if run.asked.policy != HINDSIGHT]
    return many + [run for run in sweep.beside if run.asked.policy == LEARNED_AS_WRITTEN]


def _without_periods(run: Run | LayeredRun) -> dict[str, object]:
    found = asdict(replace(run.outcome, periods=()))
    del found["periods"]
    if isinstance(run, LayeredRun):
        own = asdict(run)
        found |= {key: own[key] for key in ("cost", "least", "day_costs", "day_violations")}
    return found
