"""Puts the report of simulated re-placement together: text, figure and all values as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from experiments.machine import provenance
from experiments.replacement.day import LOOK_AHEAD_S, WRONG_BY
from experiments.replacement.report.figures import draw_over_time
from experiments.replacement.report.summary import LABELS, day_rows, rows, targets, within
from experiments.replacement.steadiness import SHOWN, WITHIN
from experiments.reports.rendered import render, report_folder
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.replacement.simulation import Outcome, ScenarioName, Weights
    from experiments.replacement.steadiness import Followed, Shown
    from experiments.replacement.sweep import Sweep

_SOON = (0, 1, WITHIN, 7)
"""Cycles from a change; the last of them is the last of the run."""
_SHOWN_BY: Mapping[Shown, str] = {
    "exact": "a speed or a delay, read exactly",
    "noisy": "nothing but an availability",
}
MARKDOWN, PICTURE, JSON = "report.md", "over-time.png", "report.json"


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
    table_2 = _noisy(sweep.outcomes, "table-2", "equal")
    found = targets(sweep)
    with report_folder(out):
        draw_over_time(out / PICTURE, table_2, _noisy(sweep.outcomes, "p", "response"))
        text = render(
            "replacement/report/simulation.md.j2",
            provenance=provenance().line(),
            targets=found,
            follows=_follows(sweep.followed),
            soon=[f"within {cycles}" for cycles in _SOON],
            seeds=len({each.setting.seed for each in table_2}),
            labels=LABELS,
            table_2=rows(table_2),
            scenario_p=rows(_noisy(sweep.outcomes, "p", "equal")),
            response=rows(_noisy(sweep.outcomes, "p", "response")),
            loads=_loads(sweep.outcomes),
            days=day_rows(sweep.days),
            ahead_h=LOOK_AHEAD_S / 3600.0,
            wrong_by=WRONG_BY,
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    write_json(
        out / JSON,
        {
            "provenance": provenance().line(),
            "targets": [asdict(each) for each in found],
            "runs": [asdict(each) for each in sweep.outcomes],
            "calm": [asdict(each) for each in sweep.calm],
            "followed": [asdict(each) for each in sweep.followed],
            "days": [asdict(each) for each in sweep.days],
        },
    )
    return out / MARKDOWN


def _follows(found: Sequence[Followed]) -> list[list[Any]]:
    """Return a line per kind of change: how many there were, and what part was followed how soon."""
    lines = []
    for shown in SHOWN:
        runs = [each for each in found if each.shown == shown]
        shares = [f"{within(runs, cycles) / len(runs):.1%}" for cycles in _SOON]
        lines.append([_SHOWN_BY[shown], len(runs), *shares])
    return lines


def _noisy(outcomes: Sequence[Outcome], scenario: ScenarioName, weights: Weights) -> list[Outcome]:
    return [
        each
        for each in outcomes
        if each.setting.noisy and (each.setting.scenario, each.setting.weights) == (scenario, weights)
    ]


def _loads(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    exact = [each for each in outcomes if not each.setting.noisy]
    return [
        {"load": _load(each), "outcome": each, "times": [_time(s) for s in each.latency_s]} for each in exact
    ]


def _load(outcome: Outcome) -> str:
    setting = outcome.setting
    kept = "what waits is lost" if setting.loses else "what waits is kept"
    return f"{setting.rate:g}/s, {setting.form}, {kept}"


def _time(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds:.2f}"
