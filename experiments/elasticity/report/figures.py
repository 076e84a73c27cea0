"""Load, executors, hosts and what waits over time, under each policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.elasticity.sweep import LOADS
from experiments.reports.axes import dress, legend
from experiments.reports.svg import MUTED, SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.elasticity.sweep import Run


def draw_over_time(path: Path, runs: Sequence[Run]) -> None:
    """Draw one run of each policy under each load.

    Args:
        path: PNG to write.
        runs: One for each policy and load.
    """
    figure = Figure(figsize=(16.0, 10.0), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(3, len(LOADS), sharex=True, sharey="row")
    policies = list(dict.fromkeys(run.asked.policy for run in runs))
    for column, load in enumerate(LOADS):
        own = {run.asked.policy: run.outcome.periods for run in runs if run.asked.load == load}
        first = own[policies[0]]
        shade = rows[1][column].twinx()
        shade.fill_between(
            [each.until_s / 60.0 for each in first],
            [each.load for each in first],
            step="pre",
            color=MUTED,
            alpha=0.15,
            linewidth=0,
        )
        shade.set_axis_off()
        for policy, color in zip(policies, SERIES, strict=False):
            periods = own[policy]
            minutes = [each.until_s / 60.0 for each in periods]
            series = (
                [each.hosts for each in periods],
                [sum(each.executors) for each in periods],
                [each.waiting for each in periods],
            )
            for row, values in zip(rows, series, strict=True):
                row[column].plot(minutes, values, color=color, label=policy, linewidth=1.5)
        dress(rows[0][column], load, "", "hosts" if not column else "")
        dress(rows[1][column], "", "", "executors; load behind" if not column else "")
        dress(rows[2][column], "", "minutes", "items that wait" if not column else "")
        rows[2][column].set_yscale("symlog", linthresh=10)
    legend(rows[0][0], len(policies))
    figure.savefig(path)
