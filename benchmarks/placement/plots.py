"""The report's plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without a display
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from benchmarks.placement.analysis import Study

OBJECTIVE_TITLES = {"A": "availability", "R": "response time", "Z": "network usage", "equal": "equal weights"}
LEAST_DEGRADATION = 1e-3
"""Degradations below are drawn on a linear scale, so that zero has a place."""
MARKERS = "osv^D<>pP*Xhd"
WIDTH_IN, HEIGHT_IN, DPI = 13.0, 9.0, 110


def plot_times(made: Study, file: Path) -> None:
    """Draw the median time of each variant against network size, per application and objective."""
    axes = _grid(made, "seconds", file, "median time in s", "log")
    axes.finish("Time to place 20 operators")


def plot_degradation(made: Study, file: Path) -> None:
    """Draw the mean degradation in F against network size, per application and objective."""
    axes = _grid(made, "degradation", file, "mean degradation in F", "symlog")
    axes.finish("Degradation (F - best) / (1 - best) against the best known placement")


class _Figure:
    """A grid of axes, one per application and objective, with one legend."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.figure, self.axes = plt.subplots(
            len(APPLICATIONS), len(OBJECTIVES), figsize=(WIDTH_IN, HEIGHT_IN), sharex=True, sharey=True
        )

    def finish(self, title: str) -> None:
        """Write the picture."""
        drawn = {
            label: handle
            for each in self.axes.flat
            for handle, label in zip(*each.get_legend_handles_labels(), strict=True)
        }
        self.figure.suptitle(title)
        self.figure.legend(list(drawn.values()), list(drawn), loc="lower center", ncols=7, frameon=False)
        self.figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
        self.figure.savefig(self._file, dpi=DPI)
        plt.close(self.figure)


def _grid(made: Study, column: str, file: Path, label: str, scale: str) -> _Figure:
    picture = _Figure(file)
    sizes = sorted(int(each) for each in made.rows["nodes"].unique())
    for row, application in enumerate(APPLICATIONS):
        for place, objective in enumerate(OBJECTIVES):
            axes = picture.axes[row, place]
            own = made.rows[(made.rows["application"] == application) & (made.rows["objective"] == objective)]
            _lines(axes, own, made.variants, column, median=scale == "log")
            axes.set_title(f"{application}, {OBJECTIVE_TITLES[objective]}", fontsize=9)
            axes.grid(alpha=0.3)
            axes.xaxis.set_major_locator(FixedLocator(sizes))
            axes.xaxis.set_minor_locator(NullLocator())
    for axes in picture.axes[-1]:
        axes.set_xlabel("nodes")
    for axes in picture.axes[:, 0]:
        axes.set_ylabel(label)
    if scale == "log":
        picture.axes[0, 0].set_yscale("log")
    else:
        picture.axes[0, 0].set_yscale("symlog", linthresh=LEAST_DEGRADATION)
        picture.axes[0, 0].set_ylim(bottom=-LEAST_DEGRADATION / 5)
        picture.axes[0, 0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    return picture


def _lines(axes: Axes, own: pd.DataFrame, variants: list[str], column: str, *, median: bool) -> None:
    colours = plt.get_cmap("tab20")
    for number, variant in enumerate(variants):
        by_size = own[own["variant"] == variant].groupby("nodes")[column]
        if not len(by_size):
            continue
        values = by_size.median() if median else by_size.mean()
        axes.plot(
            values.index,
            values,
            label=variant,
            color=colours(number % 20),
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
        )


def plot_steps(points: pd.DataFrame, file: Path) -> None:
    """Draw the time per improving step against nodes x operators, beside lines of linear growth.

    Args:
        points: Columns `kind`, `size` (nodes x operators) and `seconds_per_step`.
        file: Picture to write.
    """
    figure, axes = plt.subplots(figsize=(7.5, 5.0))
    for number, (kind, own) in enumerate(points.groupby("kind")):
        colour = plt.get_cmap("tab10")(number)
        middle = own.groupby("size")["seconds_per_step"].median()
        axes.plot(own["size"], own["seconds_per_step"], "o", color=colour, alpha=0.4, markersize=4)
        axes.plot(middle.index, middle, color=colour, label=str(kind))
        straight = middle.iloc[0] * middle.index / middle.index[0]
        axes.plot(
            middle.index, straight, ":", color=colour, label=None if number else "dotted: linear growth"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("nodes x operators")
    axes.set_ylabel("time per improving step in s")
    axes.set_title("Time per improving step")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(file, dpi=DPI)
    plt.close(figure)
