"""Puts the report of simulated elasticity together."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.elasticity.report.figures import draw_over_time
from experiments.elasticity.report.summary import figures, of_paper, settings, targets
from experiments.elasticity.sweep import BTU, OFFERS, POLICIES, READINGS, THRESHOLD
from experiments.machine import provenance
from experiments.reports.rendered import render, report_folder
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.elasticity.sweep import Run

MARKDOWN, PICTURE, JSON = "report.md", "over-time.png", "report.json"


def write_report(runs: Sequence[Run], out: Path) -> Path:
    """Write the report of all runs.

    Args:
        runs: The runs.
        out: Folder of the report.

    Returns:
        The Markdown file.

    Raises:
        MachineError: It cannot be written.
    """
    found = {reading: figures(runs, reading) for reading in READINGS}
    checks, seeds = targets(found), {run.asked.seed for run in runs}
    with report_folder(out):
        shown = [
            run
            for run in runs
            if (run.reading, run.asked.offer, run.asked.seed) == (READINGS[0], OFFERS[0], min(seeds))
        ]
        draw_over_time(out / PICTURE, shown)
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
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    write_json(
        out / JSON,
        {
            "provenance": provenance().line(),
            "targets": [asdict(each) for each in checks],
            "runs": [{**asdict(run.asked), "reading": run.reading, **_without_periods(run)} for run in runs],
        },
    )
    return out / MARKDOWN


def _without_periods(run: Run) -> dict[str, object]:
    found = asdict(run.outcome)
    del found["periods"]
    return found
