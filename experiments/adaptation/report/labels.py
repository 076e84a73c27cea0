"""Labels above a panel of a timeline: each begins at its moment, on a line of its own where it is narrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_INCHES = 0.2
FONT_SIZE = 9.0
_MOST_LETTERS = 110
_APART_PIXELS = 10.0


@dataclass(frozen=True)
class Label:
    """A text at a moment.

    Attributes:
        x: The moment, in the axis' unit.
        text: The text.
        color: Its colour.
    """

    x: float
    text: str
    color: str


@dataclass(frozen=True)
class Placed:
    """A label in its place: pixels from the panel's left end, and line above the panel, from 0."""

    label: Label
    left: float
    line: int


def arrange(
    figure: Figure, labels: Sequence[Label], limits: tuple[float, float], width: float
) -> tuple[Placed, ...]:
    """Give each label the lowest line on which it covers no other.

    Args:
        figure: The figure, of which only the resolution matters.
        labels: Labels in any order.
        limits: Ends of the axis.
        width: Width of the panel, pixels.
    """
    begins: list[float] = []
    placed = []
    # From the right: the line that ties an earlier, higher label to its moment passes left of later labels.
    for label in sorted(labels, key=lambda each: -each.x):
        text = label.text if len(label.text) <= _MOST_LETTERS else f"{label.text[: _MOST_LETTERS - 3]}..."
        drawn = figure.text(0, 0, text, fontsize=FONT_SIZE)
        wide = drawn.get_window_extent().width
        drawn.remove()
        moment = (label.x - limits[0]) / (limits[1] - limits[0]) * width
        left = max(min(moment, width - wide), 0.0)
        end = left + wide + _APART_PIXELS
        line = next((number for number, begin in enumerate(begins) if end <= begin), len(begins))
        begins[line : line + 1] = [left]
        placed.append(Placed(Label(label.x, text, label.color), left, line))
    return tuple(placed)


def lines_of(placed: Sequence[Placed]) -> int:
    """Return how many lines labels take."""
    return max((each.line + 1 for each in placed), default=0)


def draw_labels(axes: Axes, placed: Sequence[Placed]) -> None:
    """Write labels above a panel, each tied to its moment by a line."""
    points = 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]  # axes of a figure
    for each in placed:
        height = 4.0 + each.line * LINE_INCHES * 72.0
        axes.annotate(
            each.label.text,
            (0.0, 1.0),
            xycoords="axes fraction",
            xytext=(each.left * points, height),
            textcoords="offset points",
            fontsize=FONT_SIZE,
            color=each.label.color,
            annotation_clip=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=4,
        )
        axes.annotate(
            "",
            (each.label.x, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0.0, height),
            textcoords="offset points",
            arrowprops={
                "arrowstyle": "-",
                "color": each.label.color,
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            annotation_clip=False,
        )
