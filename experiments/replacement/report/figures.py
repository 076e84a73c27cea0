"""The paper's Figures 5 to 8 from simulated runs: response time, cost and score over time."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.replacement.report.summary import LABELS
from experiments.reports.axes import dress, legend
from experiments.reports.svg import SERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.replacement.simulation import Outcome

_DASHES = ("-", "--", "-", ":")


def draw_over_time(path: Path, equal: Sequence[Outcome], response: Sequence[Outcome]) -> None:
    """Draw means over runs for each cycle.

    Args:
        path: PNG to write.
        equal: Runs with equal weights.
        response: Runs that weigh the response time alone.
    """
    figure = Figure(figsize=(13.0, 8.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    (upper_left, upper_right), (lower_left, lower_right) = figure.subplots(2, 2)
    minutes = "minutes"
    _draw(upper_left, equal, lambda each: each.response_s)
    dress(upper_left, "Response time, equal weights (paper: Figure 5)", minutes, "s, by the model")
    _draw(upper_right, response, lambda each: each.response_s)
    dress(upper_right, "Response time alone weighed (Figure 6)", minutes, "s, by the model")
    _draw(lower_left, equal, lambda each: each.cost)
    _bars(lower_left, equal)
    dress(lower_left, "Cost of nodes; bars: of moves per second of a cycle (Figure 7)", minutes, "CU/s")
    _draw(lower_right, equal, lambda each: each.score)
    dress(lower_right, "Score, equal weights (Figure 8)", minutes, "1 - F on the cycle's ranges")
    for axes in (upper_left, upper_right, lower_left):
        axes.set_ylim(bottom=0)
    legend(upper_left, len(LABELS))
    figure.savefig(path)


def _draw(axes: Axes, runs: Sequence[Outcome], of: Callable[[Outcome], Sequence[float]]) -> None:
    for (rule, label), color, dashes in zip(LABELS.items(), SERIES, _DASHES, strict=False):
        own = [each for each in runs if each.setting.rule == rule]
        minutes = [at_s / 60.0 for at_s in (*own[0].at_s, own[0].end_s)]
        means = [statistics.fmean(values) for values in zip(*(of(each) for each in own), strict=True)]
        axes.step(
            minutes,
            [*means, means[-1]],
            where="post",
            color=color,
            linestyle=dashes,
            label=label,
            linewidth=1.8,
        )


def _bars(axes: Axes, runs: Sequence[Outcome]) -> None:
    cycle_s = runs[0].at_s[1] - runs[0].at_s[0]
    for place, (rule, color) in enumerate(zip(LABELS, SERIES, strict=False)):
        own = [each for each in runs if each.setting.rule == rule]
        means = [
            statistics.fmean(values) / cycle_s for values in zip(*(each.paid for each in own), strict=True)
        ]
        minutes = [at_s / 60.0 + 0.5 * place for at_s in own[0].at_s]
        axes.bar(minutes, means, width=0.45, color=color, align="edge")
