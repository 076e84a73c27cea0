"""The report's pictures: box plots, bars of the breakdown, a map for each placement."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.reports.axes import lighten
from experiments.reports.parts import draw_parts
from experiments.reports.placement_map import draw_map, map_bottom
from experiments.reports.svg import INK, SERIES
from experiments.response_time.report.summary import PAPER_MEAN_MS
from experiments.response_time.variants import STORMS_OWN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from experiments.response_time.report.summary import VariantSummary
    from experiments.response_time.report.turns import TurnData
    from formats.site_file import SiteFile

OURS, STORMS = SERIES[2], SERIES[0]
_PAPER = "#c0392b"
_TURN_INCHES, _BETWEEN_ROWS_INCHES = 0.21, 0.16
_HALF_ROW = 0.38
_PREDICTED: dict[str, Any] = {"marker": "D", "color": "white", "markeredgecolor": INK, "markersize": 4.5}
_CLOSE = 1.5
"""The closer look ends at so many times the best median."""


def draw_boxes(path: Path, variants: Sequence[VariantSummary]) -> Figure:
    """Draw one box per turn: quartiles, median, whiskers at the 5th and 95th percentile; and predictions.

    Beside the whole range stands a closer look at the best ones; what goes on beyond its edge ends there with
    an arrow and the value.

    Args:
        path: PNG to write.
        variants: From top to bottom, the shortest median first.

    Returns:
        What was drawn.
    """
    row_inches = _BETWEEN_ROWS_INCHES + _TURN_INCHES * max(len(variant.turns) for variant in variants)
    figure = Figure(figsize=(17, 1.8 + row_inches * len(variants)), dpi=100, layout="constrained")
    whole, near = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
    for axes in (whole, near):
        _boxes(axes, variants)
        axes.set_xlabel("response time end to end, ms")
    for row, variant in enumerate(variants):
        near.text(
            1.01,
            row,
            f"{variant.median_ms:.1f} ms",
            transform=near.get_yaxis_transform(),
            va="center",
            color=_color(variant.name),
        )
    whole.set_xlim(left=0)
    best_ms = variants[0].median_ms
    near.set_xlim(best_ms * 0.85, best_ms * _CLOSE)
    _mark_cut_whiskers(near, variants)
    whole.set_title("boxes: quartiles, whiskers: 5 % and 95 %; one box per repetition", loc="left")
    near.set_title(
        f"up to {_CLOSE:g} times the best; at the right the medians of all repetitions", loc="left"
    )
    figure.legend(handles=_legend(variants), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path)
    return figure


def _legend(variants: Sequence[VariantSummary]) -> list[Artist]:
    names = [variant.name for variant in variants]
    kinds = ((OURS, "Stormplace's strategies"), (STORMS, "Storm's own schedulers"))
    handles: list[Artist] = [
        Patch(facecolor=color, alpha=0.55, edgecolor=color, label=label)
        for color, label in kinds
        if color in {_color(name) for name in names}
    ]
    handles.append(Line2D([], [], linestyle="", **_PREDICTED, label="predicted"))
    if any(name in PAPER_MEAN_MS for name in names):
        handles.append(
            Line2D([], [], linestyle=":", color=_PAPER, linewidth=2, label="mean that the paper states")
        )
    return handles


def _mark_cut_whiskers(axes: Axes, variants: Sequence[VariantSummary]) -> None:
    """Mark at the right edge where a whisker goes on, with the value at which it ends."""
    edge_ms = axes.get_xlim()[1]
    for row, variant in enumerate(variants):
        for turn, y in zip(variant.turns, _places(row, len(variant.turns)), strict=True):
            low_ms, high_ms = turn.end_to_end_ms.quantile([0.05, 0.95])
            if low_ms < edge_ms < high_ms:
                axes.annotate(
                    f"{high_ms:.0f} ms \u25b6",
                    (1.0, y),
                    xycoords=axes.get_yaxis_transform(),
                    xytext=(-1, 0),
                    textcoords="offset points",
                    ha="right",
                    va="center",
                    fontsize=8,
                    color=_color(variant.name),
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                    zorder=6,
                )


def _places(row: int, count: int) -> list[float]:
    """Return the ordinates of a row's boxes."""
    return [row - _HALF_ROW + 2 * _HALF_ROW * (number + 0.5) / count for number in range(count)]


def _boxes(axes: Axes, variants: Sequence[VariantSummary]) -> None:
    for row, variant in enumerate(variants):
        color = _color(variant.name)
        height = 2 * _HALF_ROW / len(variant.turns)
        for turn, y in zip(variant.turns, _places(row, len(variant.turns)), strict=True):
            axes.boxplot(
                [turn.end_to_end_ms.to_numpy()],
                positions=[y],
                widths=height * 0.8,
                orientation="horizontal",
                whis=(5, 95),
                showfliers=False,
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": color, "alpha": 0.55, "edgecolor": color},
                medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops={"color": color},
                capprops={"color": color},
            )
            axes.plot([turn.prediction.end_to_end_ms], [y], zorder=4, **_PREDICTED)
        paper_ms = PAPER_MEAN_MS.get(variant.name)
        if paper_ms is not None:
            axes.plot([paper_ms] * 2, [row - 0.45, row + 0.45], ":", color=_PAPER, linewidth=2)
    _rows(axes, variants)


def _color(name: str) -> str:
    return STORMS if name in STORMS_OWN else OURS


def draw_bars(path: Path, variants: Sequence[VariantSummary]) -> None:
    """Draw where the response time goes, one bar per variant."""
    figure = Figure(figsize=(12, 1.6 + 0.42 * len(variants)), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    draw_parts(axes, [variant.name for variant in variants], [asdict(each.parts) for each in variants])
    _rows(axes, variants)
    axes.set_xlabel("sums of the legs' medians, ms")
    axes.legend(loc="upper right")
    figure.savefig(path)


def draw_placement(path: Path, turn: TurnData, sites: SiteFile) -> None:
    """Draw the map of one turn's placement."""
    bottom = map_bottom(turn, sites)
    columns = len({*turn.sites, sites.redis})
    figure = Figure(figsize=(max(2.9 * columns, 5.0), 1.3 - 0.36 * bottom), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    color = _color(turn.done.variant)
    draw_map(axes, turn, sites, color, bottom)
    axes.set_title(
        f"{turn.label}: predicted {turn.prediction.end_to_end_ms:.1f} ms, "
        f"measured {turn.end_to_end_ms.median():.1f} ms",
        loc="left",
        fontsize=11,
        color=color,
        weight="bold",
    )
    figure.savefig(path)


def _rows(axes: Axes, variants: Sequence[VariantSummary]) -> None:
    axes.set_yticks(range(len(variants)), [variant.name for variant in variants])
    axes.set_ylim(len(variants) - 0.5, -0.5)
    lighten(axes, "x")
