"""Plots of where executors were, where the time went, and what the scheduler expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.reports.axes import dress, legend
from experiments.reports.parts import draw_parts
from experiments.reports.placement_map import draw_map, map_bottom
from experiments.reports.svg import INK, MUTED, SERIES, figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from experiments.evaluation.page.contents import StrategyRun
    from experiments.reports.placement_map import Placed
    from formats.site_file import SiteFile

HEIGHT_IN = 0.22
"""Height of a map's unit, inches: executors keep their size, however many there are."""


def placement(run: StrategyRun, sites: SiteFile, color: str, bottom: float) -> Figure:
    """Draw where the executors of one run were, and the streams between them."""
    drawn = figure(10.5, 1.3 + HEIGHT_IN * -bottom)
    axes = drawn.subplots()
    draw_map(axes, run, sites, color, bottom, streams=run.streams)
    axes.set_title(f"Placement under {run.name}", loc="left", fontsize=11, weight="bold", color=INK)
    return drawn


def lowest(placed: Sequence[Placed], sites: SiteFile) -> float:
    """Return the lower edge that all maps of a report share, so that they have one scale."""
    return min(map_bottom(each, sites) for each in placed)


def breakdown(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the medians of the legs of the way, summed up by cause, one bar per run and query."""
    drawn = figure(9.6, 1.5 + 0.45 * len(runs))
    axes = drawn.subplots()
    names = [f"{run['run']}, query {run['query']}" for run in runs]
    totals = draw_parts(axes, names, [run["parts"] for run in runs])
    for place, total in enumerate(totals):
        axes.annotate(
            f"{total:,.0f} ms",
            (total, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=INK,
        )
    axes.invert_yaxis()
    dress(axes, "", "sum of the medians of all legs, ms", "")
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.09)
    axes.legend(
        frameon=False, fontsize=8.5, labelcolor=INK, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0)
    )
    return drawn


def rounds(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the response time that the scheduler expected in each round, and how long it planned."""
    drawn = figure(9.6, 3.6)
    upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    start = rows[0]["time_s"]
    for place, topology in enumerate(dict.fromkeys(row["topology"] for row in rows)):
        mine = [row for row in rows if row["topology"] == topology]
        color = SERIES[(place + 1) % len(SERIES)]
        known = [row for row in mine if row["response_time_ms"] is not None]
        upper.plot(
            [row["time_s"] - start for row in known],
            [row["response_time_ms"] for row in known],
            "o-",
            color=color,
            markersize=3.5,
            linewidth=1.2,
            label=topology,
        )
        moved = [row for row in known if row["decision"] == "assign"]
        upper.plot(
            [row["time_s"] - start for row in moved],
            [row["response_time_ms"] for row in moved],
            "D",
            color=SERIES[0],
            markersize=8,
            label="gave executors slots" if not place else None,
        )
        lower.plot(
            [row["time_s"] - start for row in mine],
            [row["plan_ms"] for row in mine],
            "o",
            color=color,
            markersize=3.5,
        )
    dress(upper, "Expected response time after each round", "", "R, ms")
    highest = max((row["response_time_ms"] or 0.0 for row in rows), default=0.0)
    upper.set_ylim(0, max(highest * 1.2, 1.0))
    legend(upper, 3)
    dress(lower, "Time for planning", "seconds since the first round", "ms")
    lower.set_ylim(0, 1.15 * max(row["plan_ms"] for row in rows))
    upper.tick_params(labelbottom=False, color=MUTED)
    return drawn
