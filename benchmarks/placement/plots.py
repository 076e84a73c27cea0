"""The report's plots."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without a display
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from benchmarks.placement.analysis import Study

OBJECTIVE_TITLES = {"A": "availability", "R": "response time", "Z": "network usage", "equal": "equal weights"}
LEAST_DEGRADATION = 1e-3
"""Degradations below are drawn on a linear scale, so that zero has a place."""
MARKERS = "osv^D<>pP*Xhd"
WIDTH_IN, HEIGHT_IN, DPI = 13.0, 9.0, 110


def plot_times(made: Study, file: Path) -> None:
    """Draw the median time of each variant against network size, per application and objective."""
    axes = _draw(made, "seconds", "median")
    axes[0, 0].set_yscale("log")
    _finish(axes, "median time in s", "Time to place 20 operators", file)


def plot_degradation(made: Study, file: Path) -> None:
    """Draw the mean degradation in F against network size, per application and objective."""
    axes = _draw(made, "degradation", "mean")
    axes[0, 0].set_yscale("symlog", linthresh=LEAST_DEGRADATION)
    axes[0, 0].set_ylim(bottom=-LEAST_DEGRADATION / 5)
    axes[0, 0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    title = "Degradation (F - best) / (1 - best) against the best known placement"
    _finish(axes, "mean degradation in F", title, file)


def _draw(made: Study, column: str, kind: str) -> np.ndarray:
    """Return axes by application and objective; a line per variant is the mean or median of a column."""
    _, axes = plt.subplots(
        len(APPLICATIONS), len(OBJECTIVES), figsize=(WIDTH_IN, HEIGHT_IN), sharex=True, sharey=True
    )
    colours = plt.get_cmap("tab20")
    for own_axes, (application, objective) in zip(axes.flat, product(APPLICATIONS, OBJECTIVES), strict=True):
        for number, variant in enumerate(made.variants):
            own = made.part(application=application, objective=objective, variant=variant)
            values = own.groupby("nodes")[column].agg(kind)
            if values.empty:
                continue
            own_axes.plot(
                values.index,
                values,
                label=variant,
                color=colours(number % 20),
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
            )
        own_axes.set_title(f"{application}, {OBJECTIVE_TITLES[objective]}", fontsize=9)
        own_axes.grid(alpha=0.3)
        own_axes.xaxis.set_major_locator(FixedLocator(made.sizes))
        own_axes.xaxis.set_minor_locator(NullLocator())
    return np.asarray(axes)


def _finish(axes: np.ndarray, label: str, title: str, file: Path) -> None:
    """Name the outer axes, add one legend for all and write the picture."""
    figure = axes[0, 0].figure
    for each in axes[-1]:
        each.set_xlabel("nodes")
    for each in axes[:, 0]:
        each.set_ylabel(label)
    drawn = {
        label: handle
        for each in axes.flat
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True)
    }
    figure.suptitle(title)
    figure.legend(list(drawn.values()), list(drawn), loc="lower center", ncols=7, frameon=False)
    figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
    figure.savefig(file, dpi=DPI)
    plt.close(figure)


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
