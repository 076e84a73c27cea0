"""How the plots of all reports look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from experiments.reports.svg import GRID, INK, MUTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_MOST_COLUMNS = 4
_DECADES_ONLY = 1_000.0

FAR_APART = 5.0
"""Factor between times from which a logarithmic axis shows them better."""


def lighten(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    """Give axes a pale grid below what is drawn, and no frame above and at the right."""
    axes.grid(visible=True, axis=grid, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def logarithmic(axis: Axis, steps: Sequence[float] = (1, 2, 5), text: str = "{:g}") -> None:
    """Give a logarithmic axis ticks at some multiples of the powers of ten, and no others."""
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text.format(value)))
    axis.set_minor_formatter(NullFormatter())


def dress(axes: Axes, title: str, x: str, y: str) -> None:
    """Give axes their title, the names of both axes, and the report's colours."""
    axes.set_title(title, loc="left", fontsize=11, weight="bold", color=INK)
    axes.set_xlabel(x, color=MUTED, fontsize=9)
    axes.set_ylabel(y, color=MUTED, fontsize=9)
    axes.tick_params(colors=MUTED, labelcolor=MUTED, labelsize=8.5)
    lighten(axes)
    axes.spines[["left", "bottom"]].set_color(MUTED)


def legend(axes: Axes, columns: int) -> None:
    """Explain the series above the figure and its titles, where no data are."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)  # noqa: S101 - one of `svg.figure`, never a part of one
    figure.legend(
        *axes.get_legend_handles_labels(),
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        ncols=min(columns, _MOST_COLUMNS),
        loc="outside upper right",
        borderaxespad=0.2,
    )


def times_ms(axes: Axes, low_ms: float, high_ms: float) -> None:
    """Scale the upright axis for times: logarithmic where they are far apart, else from 0."""
    if high_ms > FAR_APART * low_ms:
        logarithmic_ms(axes, "y")
        axes.set_ylabel(f"{axes.get_ylabel()} (logarithmic)")
    else:
        axes.set_ylim(0, high_ms * 1.1)


def logarithmic_ms(axes: Axes, which: str) -> None:
    """Make an axis of times logarithmic, with ticks such as 50, 100, 200.

    Args:
        axes: The axes.
        which: `x` or `y`.
    """
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    steps: tuple[float, ...] = (1, 2, 5) if high > FAR_APART * low else (1, 1.5, 2, 3, 4, 5, 6, 8)
    logarithmic(axis, (1,) if high > _DECADES_ONLY * low else steps, "{:,.10g}")
