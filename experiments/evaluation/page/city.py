"""Plots of what was answered: demand over the day, routes and areas on the challenge's grid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap, PowerNorm
from matplotlib.patheffects import withStroke

from experiments.reports.axes import dress
from experiments.reports.svg import INK, MUTED, PAPER, SERIES, figure
from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE, ORIGIN_LATITUDE, ORIGIN_LONGITUDE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler.base.arrays import FloatArray

MOST_BARS = 240
ARROWS = 10
MOST_TICKS = 12
_STEPS_S = (300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000)
ROOM = 3
"""Cells shown around those that are listed."""

# without the darkest colours, which look like a dark page
_COLORS = ListedColormap(colormaps["viridis"](np.linspace(0.18, 1.0, 256)))
_HALO = [withStroke(linewidth=2.2, foreground=PAPER)]

LANDMARKS: Mapping[str, tuple[float, float]] = {
    "Times Square": (-73.9855, 40.7580),
    "LaGuardia": (-73.8740, 40.7769),
    "JFK": (-73.7781, 40.6413),
    "Wall Street": (-74.0090, 40.7060),
    "Williamsburg": (-73.9580, 40.7140),
}
"""Longitude and latitude, degrees: so that a reader finds the way without a map below."""


@dataclass(frozen=True)
class Grid:
    """A grid of square cells, the first centred on the challenge's point.

    Attributes:
        parts: Cells per side of 500 m: 1 for query 1, 2 for query 2.
    """

    parts: int

    def longitude(self, east: float) -> float:
        """Return the longitude of the centre of a column of cells, degrees."""
        return ORIGIN_LONGITUDE + (east - 1) * CELL_LONGITUDE / self.parts

    def latitude(self, south: float) -> float:
        """Return the latitude of the centre of a row of cells, degrees."""
        return ORIGIN_LATITUDE - (south - 1) * CELL_LATITUDE / self.parts


ROUTES, AREAS = Grid(1), Grid(2)


def demand(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the trips that ended in each minute, or in longer stretches of a long run."""
    drawn = figure(9.6, 2.9)
    axes = drawn.subplots()
    first, last = rows[0]["minute_s"], rows[-1]["minute_s"]
    width_s = 60 * max(1, -(-(last - first + 60) // (60 * MOST_BARS)))
    counts: dict[int, int] = {}
    for row in rows:
        begin = first + (row["minute_s"] - first) // width_s * width_s
        counts[begin] = counts.get(begin, 0) + row["rows"]
    axes.bar(list(counts), list(counts.values()), width=width_s * 0.9, align="edge", color=SERIES[1])
    unit = "minute" if width_s == 60 else f"{width_s // 60} minutes"
    dress(axes, f"Trips that ended, per {unit}", "time of the data (New York)", f"trips per {unit}")
    step_s = next((step for step in _STEPS_S if last - first <= step * MOST_TICKS), _STEPS_S[-1])
    ticks = range(-(-first // step_s) * step_s, last + 61, step_s)
    pattern = "%d %b\n%H:%M" if last - first > 86_400 else "%H:%M"
    axes.set_xticks(ticks, [f"{datetime.fromtimestamp(tick, UTC):{pattern}}" for tick in ticks])
    axes.margins(x=0.01)
    return drawn


def route_map(ranked: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw where the most frequent routes begin, and the ten most frequent as arrows."""
    drawn = figure(5.4, 5.4)
    axes = drawn.subplots()
    starts: dict[tuple[int, int], float] = {}
    for route in ranked:
        cell = _cell(route["start"])
        starts[cell] = starts.get(cell, 0.0) + 100 * route["share"]
    cells = [*starts, *(_cell(route["end"]) for route in ranked)]
    _heat(axes, ROUTES, starts, cells, "routes of the ten best that begin there, % of output rows (sum)")
    for route in ranked[:ARROWS]:
        (a, b), (c, d) = _cell(route["start"]), _cell(route["end"])
        start = ROUTES.longitude(a), ROUTES.latitude(b)
        end = ROUTES.longitude(c), ROUTES.latitude(d)
        axes.plot(*start, "o", color=SERIES[0], markersize=3.5, zorder=4)
        if start != end:
            arrow = {"arrowstyle": "-|>", "color": SERIES[0], "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=end, xytext=start, arrowprops=arrow, zorder=4)
    dress(axes, "Most frequent routes (500 m cells)", "longitude, degrees", "latitude, degrees")
    return drawn


def area_map(ranked: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw which areas were among the ten most profitable, and how often."""
    drawn = figure(5.4, 5.4)
    axes = drawn.subplots()
    shares = {_cell(area["start"]): 100 * area["share"] for area in ranked}
    _heat(axes, AREAS, shares, list(shares), "output rows that list the area, %")
    dress(axes, "Most profitable areas (250 m cells)", "longitude, degrees", "latitude, degrees")
    return drawn


def _heat(
    axes: Axes,
    grid: Grid,
    values: Mapping[tuple[int, int], float],
    cells: Sequence[tuple[int, int]],
    label: str,
) -> None:
    """Draw cells by value over the box that holds all `cells`."""
    easts, souths = [east for east, _ in cells], [south for _, south in cells]
    room = ROOM * grid.parts
    west, east = min(easts) - room, max(easts) + room
    north, south = min(souths) - room, max(souths) + room
    picture: FloatArray = np.full((south - north + 1, east - west + 1), np.nan)
    for (column, line), value in values.items():
        picture[line - north, column - west] = value
    extent = (
        *(grid.longitude(west - 0.5), grid.longitude(east + 0.5)),
        *(grid.latitude(south + 0.5), grid.latitude(north - 0.5)),
    )
    image = axes.imshow(
        picture,
        extent=extent,
        cmap=_COLORS,
        norm=PowerNorm(0.5, vmin=0.0),
        interpolation="nearest",
        aspect=CELL_LONGITUDE / CELL_LATITUDE,
        zorder=2,
    )
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.75, pad=0.02)
    bar.set_label(label, color=MUTED, fontsize=8.5)
    bar.ax.tick_params(colors=MUTED, labelsize=8)
    bar.outline.set_visible(False)
    axes.locator_params(nbins=6)
    axes.ticklabel_format(useOffset=False)
    for name, (longitude, latitude) in LANDMARKS.items():
        if extent[0] < longitude < extent[1] and extent[2] < latitude < extent[3]:
            axes.plot(longitude, latitude, "+", color=INK, markersize=8, zorder=6, path_effects=_HALO)
            axes.annotate(
                name,
                (longitude, latitude),
                xytext=(5, 3),
                textcoords="offset points",
                fontsize=7.5,
                color=INK,
                zorder=6,
                path_effects=_HALO,
            )


def _cell(name: str) -> tuple[int, int]:
    east, south = name.split(".")
    return int(east), int(south)
