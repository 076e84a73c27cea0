"""The report's pictures: box plots, bars of the breakdown, a map for each placement."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.reports.figure import COLORS
from experiments.reports.placement_map import draw_map, map_bottom
from experiments.response_time.report.summary import PAPER_MEAN_MS, STORMS_OWN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.response_time.report.summary import VariantSummary
    from experiments.response_time.report.turns import TurnData
    from formats.site_file import SiteFile

OURS, STORMS = COLORS[2], COLORS[0]
_INK, _PAPER = "#22303c", "#c0392b"
_ROW_INCHES = 0.5
_CLOSE = 1.5
"""The closer look ends at so many times the best median."""


def draw_boxes(path: Path, variants: Sequence[VariantSummary]) -> None:
    """Draw one box per turn: quartiles, median, whiskers at the 5th and 95th percentile; and predictions.

    Beside the whole range stands a closer look at the best ones.

    Args:
        path: PNG to write.
        variants: From top to bottom, the shortest median first.
    """
    figure = Figure(figsize=(17, 1.8 + _ROW_INCHES * len(variants)), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
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
    whole.set_title("boxes: quartiles, whiskers: 5 % and 95 %; one box per repetition", loc="left")
    near.set_title(f"up to {_CLOSE:g} times the best; medians", loc="left")
    whole.plot([], [], ":", color=_PAPER, linewidth=2, label="paper's mean")
    whole.legend(loc="upper right")
    figure.savefig(path)


def _boxes(axes: Axes, variants: Sequence[VariantSummary]) -> None:
    for row, variant in enumerate(variants):
        color = _color(variant.name)
        height = 0.7 / len(variant.turns)
        for number, turn in enumerate(variant.turns):
            y = row - 0.35 + height * (number + 0.5)
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
                medianprops={"color": _INK, "linewidth": 1.6},
                whiskerprops={"color": color},
                capprops={"color": color},
            )
            label = "predicted" if (row, number) == (0, 0) else None
            axes.plot([turn.prediction.end_to_end_ms], [y], "D", color="white", mec=_INK, ms=5, label=label)
        paper_ms = PAPER_MEAN_MS.get(variant.name)
        if paper_ms is not None:
            axes.plot([paper_ms] * 2, [row - 0.42, row + 0.42], ":", color=_PAPER, linewidth=2)
    _rows(axes, variants)


def _color(name: str) -> str:
    return STORMS if name in STORMS_OWN else OURS


def draw_bars(path: Path, variants: Sequence[VariantSummary]) -> None:
    """Draw where the response time goes, one bar per variant."""
    figure = Figure(figsize=(12, 1.6 + 0.42 * len(variants)), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    left = [0.0] * len(variants)
    series = (
        ("network", "network"),
        ("storm", "Storm and pipes"),
        ("python", "Python"),
        ("wait", "wait for metronome"),
        ("redis", "Redis"),
    )
    for (attribute, label), color in zip(series, cycle(COLORS), strict=False):
        values = [max(getattr(variant.parts, attribute), 0.0) for variant in variants]
        axes.barh(range(len(variants)), values, left=left, height=0.62, color=color, label=label)
        left = [start + value for start, value in zip(left, values, strict=True)]
    _rows(axes, variants)
    axes.set_xlabel("sums of the legs' medians, ms")
    axes.legend(loc="upper right")
    figure.savefig(path)


def draw_placement(path: Path, turn: TurnData, sites: SiteFile) -> None:
    """Draw the map of one turn's placement."""
    bottom = map_bottom(turn, sites)
    columns = len({*turn.sites, sites.services})
    figure = Figure(figsize=(max(2.9 * columns, 5.0), 1.3 - 0.36 * bottom), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
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
    axes.grid(visible=True, axis="x", color="#e4e7eb", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
