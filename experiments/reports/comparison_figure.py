"""The picture of a report: a placement map per scheduler, and the distributions of both response times."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.busy import is_disturbed
from experiments.reports.axes import lighten, logarithmic
from experiments.reports.placement_map import LOCAL, WIDE_AREA, draw_map, map_bottom
from experiments.reports.svg import INK, SERIES
from replay.analysis.latency import GRID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.reports.run_record import LatencyFigures, RunRecord
    from formats.site_file import SiteFile

LEGEND_LINE = 13.0
"""Height of a line of the legend, points."""
TITLE: dict[str, Any] = {"fontsize": 11, "loc": "left", "weight": "bold"}


def draw_report(path: Path, runs: Sequence[RunRecord], sites: SiteFile, title: str, busy: str) -> Figure:
    """Draw the picture and write it as PNG.

    Args:
        path: File to write.
        runs: At least one run, drawn from top to bottom.
        sites: The site file.
        title: One line over the picture.
        busy: How busy the processors were; a line below it.

    Returns:
        What was drawn.
    """
    figure = Figure(figsize=(19, 1.6 + 3.9 * max(len(runs), 2)), dpi=110)
    grid = figure.add_gridspec(
        len(runs),
        2,
        width_ratios=(1.75, 1),
        left=0.015,
        right=0.985,
        top=1 - 1.3 / figure.get_figheight(),
        bottom=0.75 / figure.get_figheight(),
        wspace=0.07,
        hspace=0.16,
    )
    figure.suptitle(title, fontsize=14, weight="bold", y=1 - 0.28 / figure.get_figheight())
    figure.text(
        0.5,
        1 - 0.68 / figure.get_figheight(),
        busy,
        ha="center",
        va="center",
        fontsize=11,
        color=WIDE_AREA if any(is_disturbed(run.busy) for run in runs) else INK,
    )
    bottom = min(map_bottom(run, sites) for run in runs)
    for row, (run, color) in enumerate(zip(runs, cycle(SERIES), strict=False)):
        axes = figure.add_subplot(grid[row, 0])
        draw_map(axes, run, sites, color, bottom)
        axes.set_title(_headline(run), loc="left", fontsize=11, color=color, weight="bold")
    # each with room above for a line per run
    legend = LEGEND_LINE * len(runs) / 72 / figure.get_figheight()
    place = grid[0, 1].get_position(figure)
    right = figure.add_gridspec(
        2,
        1,
        left=place.x0,
        right=place.x1,
        top=place.y1 - legend,
        bottom=0.75 / figure.get_figheight(),
        hspace=0.2 + 3.0 * legend,
    )
    upper, lower = figure.add_subplot(right[0]), figure.add_subplot(right[1])
    _draw_distributions(upper, [(run.scheduler, run.end_to_end) for run in runs])
    _draw_distributions(lower, [(run.scheduler, run.in_topology) for run in runs])
    for axes, text in (
        (upper, "End to end: row available in Redis to result back in Redis"),
        (lower, "In topology: data source's emit to globalRank"),
    ):
        axes.set_title(text, pad=10 + LEGEND_LINE * len(runs), **TITLE)
    low, high = _common_range([each for run in runs for each in (run.end_to_end, run.in_topology)])
    upper.set_xlim(low, high)
    lower.set_xlim(low, high)
    _draw_legend(figure)
    figure.savefig(path)
    return figure


def _headline(run: RunRecord) -> str:
    answers = "answers right" if run.wrong is None else "ANSWERS WRONG"
    return (
        f"{run.scheduler}: median {run.end_to_end.p50_ms:.1f} ms end to end, predicted "
        f"{run.prediction.end_to_end_ms:.1f} ms; {run.prediction.streams_between_sites} streams between "
        f"sites, {run.prediction.critical_hops} on the critical path; {answers}"
    )


def _common_range(figures: Sequence[LatencyFigures]) -> tuple[float, float]:
    """Return limits in ms for a logarithmic axis."""
    lowest = min(each.quantiles_ms[0] for each in figures)
    highest = max(each.quantiles_ms[-1] for each in figures)
    # a logarithmic axis cannot show 0 ms; the clock of the results has steps of 1 ms
    return max(lowest, 0.5) / 1.2, max(highest, 1.0) * 1.2


def _draw_distributions(axes: Axes, series: Sequence[tuple[str, LatencyFigures]]) -> None:
    """Draw cumulative distributions; their percentiles stand above the axes, where they cover nothing."""
    for (name, figures), color in zip(series, cycle(SERIES), strict=False):
        label = (
            f"{name}: p50 {figures.p50_ms:.1f} ms, p95 {figures.p95_ms:.1f} ms, p99 {figures.p99_ms:.1f} ms"
        )
        axes.plot(figures.quantiles_ms, GRID, color=color, linewidth=2.0, label=label)
        axes.plot([figures.p50_ms], [0.5], "o", color=color, markersize=7, markeredgecolor="white", zorder=5)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        borderpad=0.0,
        labelspacing=0.25,
        fontsize=9.5,
        labelcolor="linecolor",
        frameon=False,
    )
    axes.axhline(0.5, color="#9aa5b1", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    logarithmic(axes.xaxis)
    axes.set_ylim(0, 1.005)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95, 1.0], ["0", "25 %", "50 %", "75 %", "95 %", "100 %"])
    axes.set_xlabel("response time, ms (logarithmic)")
    lighten(axes)


def _draw_legend(figure: Figure) -> None:
    y = 0.28 / figure.get_figheight()
    entries = (
        (0.03, WIDE_AREA, "stream between sites"),
        (0.17, LOCAL, "stream within a site"),
    )
    for x, color, text in entries:
        figure.text(x, y, "\u2192", color=color, fontsize=16, weight="bold", va="center")
        figure.text(x + 0.017, y, text, fontsize=9.5, va="center", color=INK)
    figure.text(
        0.31,
        y,
        "solid: on the critical path, dashed: not.   Brackets: one-way delay between sites.",
        fontsize=9.5,
        va="center",
        color=INK,
    )
