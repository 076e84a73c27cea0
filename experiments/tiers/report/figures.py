"""The paper's Figures 5 to 8: time, gap, tiers, and what less time costs."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from experiments.reports.axes import dress, legend, logarithmic
from experiments.reports.svg import SERIES
from experiments.tiers.cases import LIMIT_S, STRATEGY_NAMES
from experiments.tiers.report.summary import LARGEST_NETWORK, LARGEST_SET, gap_over_time, over_sets
from experiments.tiers.runs import CLOUD, COMBINED, EXACT, OURS, on_tiers
from formats.tier import TIERS
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.tiers.runs import TierRun

_STYLE = {
    name: (SERIES[k % len(SERIES)], ("-", "--", ":")[k // len(SERIES) % 3])
    for k, name in enumerate(STRATEGY_NAMES)
}
_MARK = {name: ("o", "^", "s")[k // len(SERIES) % 3] for k, name in enumerate(STRATEGY_NAMES)}
_SHADE = dict(zip(TIERS, ("#7fb3d5", "#82c596", "#f0b27a"), strict=True))
_LINEAR_GAP = 0.01
"""Percent up to which the axis of gaps against time is linear: below any logarithm is 0."""
_MOST_GAP = 40.0
"""Percent; `cloud-greedy` is far above, and in a table."""


def draw_strategies(path: Path, main: Sequence[TierRun]) -> None:
    """Draw time and gap over the number of graphs, on each network (Figures 5 and 6)."""
    figure = Figure(figsize=(15.0, 8.5), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, len(UNDERLAYS), sharex=True)
    for k, underlay in enumerate(UNDERLAYS):
        runs = [run for run in main if run.case.underlay == underlay]
        nodes = UNDERLAYS[underlay].cloud + UNDERLAYS[underlay].fog + UNDERLAYS[underlay].edge
        for name, points in over_sets(runs, lambda each: each.median_s).items():
            _line(above[k], name, points, 1.0)
        above[k].set_yscale("log")
        logarithmic(above[k].yaxis, (1,))
        dress(above[k], f"{nodes} nodes: median time (paper: Figure 5)", "", "s")
        for name, points in over_sets(runs, lambda each: each.mean_gap).items():
            if name != CLOUD:
                _line(below[k], name, points, 100.0)
        below[k].set_ylim(0, _MOST_GAP)
        dress(below[k], "Mean gap (Figure 6)", "graphs", "% above the least cost")
    legend(above[0], 6)
    figure.savefig(path)


def _line(axes: Axes, name: str, points: Sequence[tuple[int, float]], scale: float) -> None:
    color, dashes = _STYLE[name]
    x, y = [graphs for graphs, _ in points], [scale * value for _, value in points]
    axes.plot(x, y, color=color, linestyle=dashes, linewidth=1.6, label=name)


def draw_trade_off(path: Path, main: Sequence[TierRun]) -> None:
    """Draw operators per tier, gap against saved time, and gap against time (Figures 7 and 8)."""
    figure = Figure(figsize=(15.0, 5.5), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3)
    largest = [
        run for run in main if (run.case.underlay, run.case.graph_set) == (LARGEST_NETWORK, LARGEST_SET)
    ]
    _draw_tiers(left, largest)
    _draw_points(middle, main)
    moments = np.geomspace(0.1, LIMIT_S, 60).tolist()
    for name in (EXACT, COMBINED[1], *OURS):
        gaps = gap_over_time([run for run in largest if run.strategy == name], moments)
        known = [(moment, 100 * gap) for moment, gap in zip(moments, gaps, strict=True) if gap is not None]
        color, dashes = _STYLE[name]
        right.step(*np.array(known).reshape(-1, 2).T, where="post", color=color, linestyle=dashes, label=name)
    right.set_xscale("log")
    logarithmic(right.xaxis, (1,))
    right.set_yscale("symlog", linthresh=_LINEAR_GAP)
    right.set_ylim(bottom=0)
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    right.legend(frameon=False, fontsize=8.5)
    dress(right, "100 nodes, 15 graphs: gap against time", "s", "% above the least cost, mean")
    figure.savefig(path)


def _draw_tiers(axes: Axes, runs: Sequence[TierRun]) -> None:
    bottom = np.zeros(len(STRATEGY_NAMES))
    counts = [on_tiers([run for run in runs if run.strategy == name]) for name in STRATEGY_NAMES]
    for tier in TIERS:
        height = np.array([each[tier] for each in counts])
        axes.bar(STRATEGY_NAMES, height, bottom=bottom, color=_SHADE[tier], label=tier)
        bottom += height
    dress(axes, "100 nodes, 15 graphs: tiers (Figure 7)", "", "operators, mean")
    axes.tick_params(axis="x", labelrotation=75)
    axes.set_ylim(top=1.25 * bottom.max())
    axes.legend(frameon=False, fontsize=8.5, ncols=3, loc="upper left")


def _draw_points(axes: Axes, main: Sequence[TierRun]) -> None:
    """Draw a point per strategy, network and set, larger for larger networks."""
    kinds = sorted({(run.case.underlay, run.case.graph_set) for run in main})
    for name in STRATEGY_NAMES:
        if name in {EXACT, CLOUD}:
            continue
        points = []
        for kind in kinds:
            own = [run for run in main if (run.case.underlay, run.case.graph_set) == kind]
            gaps = [run.gap for run in own if run.strategy == name and run.gap is not None]
            spent, whole = (sum(run.seconds for run in own if run.strategy == each) for each in (name, EXACT))
            if gaps:
                points.append((100 * (1 - spent / whole), 100 * statistics.fmean(gaps), 12 * kind[0] ** 1.5))
        axes.scatter(
            *zip(*points, strict=True),
            color=_STYLE[name][0],
            marker=_MARK[name],
            alpha=0.6,
            linewidths=0,
            label=name,
        )
    axes.set_xlim(-100, 100)
    axes.set_ylim(0, _MOST_GAP)
    axes.legend(frameon=False, fontsize=7.5, loc="upper left")
    dress(axes, "Gap against saved time (Figure 8a)", "% less time than inop-exact", "% above the least cost")
