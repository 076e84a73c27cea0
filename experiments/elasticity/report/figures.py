"""Load, executors, hosts and what waits over time, under each policy; and how policies learn, day by day."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from experiments.elasticity.sweep import LOADS
from experiments.reports.axes import dress, legend
from experiments.reports.svg import MUTED, SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.elasticity.layered_run import LayeredRun
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


def draw_learning(path: Path, runs: Sequence[LayeredRun]) -> None:
    """Draw the violations and the cost J of each policy by day, as means over seeds.

    Args:
        path: PNG to write.
        runs: Under one load, all of as many days.
    """
    figure = Figure(figsize=(12.0, 4.5), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    late, cost = figure.subplots(1, 2, sharex=True)
    policies = list(dict.fromkeys(run.asked.policy for run in runs))
    for policy, color in zip(policies, SERIES, strict=False):
        own = [run for run in runs if run.asked.policy == policy]
        days = range(1, len(own[0].day_costs) + 1)
        by_day = zip(*(run.day_violations for run in own), strict=True)
        late.plot(days, [100.0 * statistics.fmean(day) for day in by_day], color=color, label=policy)
        by_day = zip(*(run.day_costs for run in own), strict=True)
        cost.plot(days, [1000.0 * statistics.fmean(day) for day in by_day], color=color, label=policy)
    late.xaxis.set_major_locator(MultipleLocator(7))
    dress(late, "", "day", "violations, %")
    dress(cost, "", "day", "J, thousandths")
    legend(late, len(policies))
    figure.savefig(path)
