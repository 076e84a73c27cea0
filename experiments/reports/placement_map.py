"""Draws where the executors of one run are: sites side by side, their hosts, the executors, the streams."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Protocol

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from experiments.reports.svg import INK, PALE
from replay.analysis.placement import streams_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace
    from replay.analysis.predict import Prediction

# Sizes in the map's own units: a site is 10 wide, whatever the size of the picture.
SITE_WIDTH, SITE_GAP = 10.0, 4.2
CHIP_HEIGHT, CHIP_GAP = 0.80, 0.42
HOST_PAD, HOST_GAP = 0.34, 0.62
HOST_LABEL = 0.66
IDLE_HEIGHT = 0.62
MOST_SITES = 4

WIDE_AREA, LOCAL = "#c0392b", "#7f8c8d"


class Placed(Protocol):
    """What is drawn: where executors were, and which streams are on the critical path."""

    @property
    def places(self) -> tuple[ExecutorPlace, ...]:
        """Executors and their hosts."""

    @property
    def prediction(self) -> Prediction:
        """The prediction for them."""


@dataclass(frozen=True)
class _Spot:
    """Lower left corner and size of a box."""

    x: float
    y: float
    width: float
    height: float


def map_bottom(run: Placed, sites: SiteFile) -> float:
    """Return the ordinate (below 0) of the lower edge that the sites of one run need."""
    return min(_column(0.0, _hosts(run.places, sites, name)).bottom for name in sites.names)


def draw_map(
    axes: Axes,
    run: Placed,
    sites: SiteFile,
    color: str,
    bottom: float,
    *,
    streams: Sequence[tuple[str, str]] | None = None,
) -> None:
    """Draw one run's placement.

    Args:
        axes: Where to draw.
        run: The run.
        sites: Sites, hosts and delays; of more than four sites only those that hold executors are drawn.
        color: Colour of the executors.
        bottom: Lower edge of the sites, `map_bottom` or below; maps with the same edge have the same scale.
        streams: Streams between components; None: those of the taxi queries.
    """
    used = {place.site for place in run.places} | {sites.redis}
    names = [name for name in sites.names if len(sites.names) <= MOST_SITES or name in used]
    left = {name: place * (SITE_WIDTH + SITE_GAP) for place, name in enumerate(names)}
    columns = {name: _column(left[name], _hosts(run.places, sites, name)) for name in names}
    for name in names:
        label = f"{name}  (Redis)" if name == sites.redis else name
        _draw_site(axes, label, left[name], bottom, columns[name])
    _draw_delays(axes, sites, left)
    spots = {place: spot for column in columns.values() for place, spot in column.chips.items()}
    _draw_streams(axes, run, streams_of(run.places) if streams is None else streams, spots)
    for place, spot in spots.items():
        _draw_chip(axes, place.component, spot, color)
    levels = len(names) - 1
    axes.set_xlim(-0.4, max(left.values()) + SITE_WIDTH + 0.4)
    axes.set_ylim(bottom - 0.3, 0.35 + 0.95 * max(levels - 1, 0) + 0.7)
    axes.axis("off")


def _hosts(places: Sequence[ExecutorPlace], sites: SiteFile, site: str) -> dict[str, list[ExecutorPlace]]:
    """Return the executors of each host of a site, in the order of the stream."""
    order = {component: rank for rank, component in enumerate(dict.fromkeys(chain(*streams_of(places))))}
    mine: dict[str, list[ExecutorPlace]] = {host: [] for host, home in sites.hosts.items() if home == site}
    for place in sorted(places, key=lambda each: (order.get(each.component, len(order)), each.first_task)):
        if place.host in mine:
            mine[place.host].append(place)
    return mine


@dataclass(frozen=True)
class _Column:
    hosts: Mapping[str, _Spot]
    chips: Mapping[ExecutorPlace, _Spot]
    idle: tuple[str, ...]
    bottom: float


def _column(x: float, hosts: Mapping[str, Sequence[ExecutorPlace]]) -> _Column:
    """Lay the hosts of a site out from top to bottom; those without executors become one line of text."""
    boxes: dict[str, _Spot] = {}
    chips: dict[ExecutorPlace, _Spot] = {}
    top = -1.0
    for host, places in hosts.items():
        if not places:
            continue
        height = HOST_LABEL + len(places) * CHIP_HEIGHT + (len(places) - 1) * CHIP_GAP + HOST_PAD
        boxes[host] = _Spot(x + 0.5, top - height, SITE_WIDTH - 1.0, height)
        y = top - HOST_LABEL
        for place in places:
            chips[place] = _Spot(x + 1.35, y - CHIP_HEIGHT, SITE_WIDTH - 2.7, CHIP_HEIGHT)
            y -= CHIP_HEIGHT + CHIP_GAP
        top -= height + HOST_GAP
    idle = tuple(host for host, places in hosts.items() if not places)
    bottom = top + HOST_GAP - 0.4 - (IDLE_HEIGHT if idle else 0.0)
    return _Column(boxes, chips, idle, bottom)


def _draw_site(axes: Axes, label: str, x: float, bottom: float, column: _Column) -> None:
    _box(axes, _Spot(x, bottom, SITE_WIDTH, -bottom), face=PALE, edge="#b6c0c9", line=1.0, order=0)
    axes.text(
        x + SITE_WIDTH / 2, -0.52, label, ha="center", va="center", fontsize=9, weight="bold", color=INK
    )
    for host, spot in column.hosts.items():
        _box(axes, spot, face="white", edge="#8795a1", line=0.8, order=1)
        axes.text(
            spot.x + 0.22,
            spot.y + spot.height - HOST_LABEL / 2,
            host,
            va="center",
            fontsize=6.5,
            color="#52606d",
        )
    if column.idle:
        hosts = ", ".join(column.idle) if len(column.idle) < 3 else f"{len(column.idle)} hosts"
        axes.text(
            x + SITE_WIDTH / 2,
            bottom + 0.5,
            f"idle: {hosts}",
            ha="center",
            va="center",
            fontsize=6.5,
            color="#7b8794",
            style="italic",
        )


def _draw_delays(axes: Axes, sites: SiteFile, left: Mapping[str, float]) -> None:
    """Draw a bracket over each pair of sites with its one-way delay, the wider the higher."""
    order = list(left)
    for a, b in combinations(order, 2):
        span = order.index(b) - order.index(a)
        y = 0.35 + 0.95 * (span - 1)
        inset = 1.2 + 1.4 * (span - 1)
        start = left[a] + SITE_WIDTH - inset if span == 1 else left[a] + SITE_WIDTH / 2 - 0.6 * (span - 2)
        end = left[b] + inset if span == 1 else left[b] + SITE_WIDTH / 2 + 0.6 * (span - 2)
        axes.plot([start, start, end, end], [0.0, y, y, 0.0], color="#52606d", linewidth=0.9, zorder=1)
        axes.text(
            (start + end) / 2,
            y,
            f"{sites.between_ms(a, b):g} ms",
            ha="center",
            va="center",
            fontsize=7.5,
            color=INK,
            zorder=2,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
        )


def _draw_streams(
    axes: Axes, run: Placed, streams: Sequence[tuple[str, str]], spots: Mapping[ExecutorPlace, _Spot]
) -> None:
    critical = set(pairwise(run.prediction.critical_path))
    for source, target in streams:
        for start in (place for place in spots if place.component == source):
            for end in (place for place in spots if place.component == target):
                _draw_stream(
                    axes, spots[start], spots[end], start.site != end.site, (source, target) in critical
                )


def _draw_stream(axes: Axes, start: _Spot, end: _Spot, between_sites: bool, critical: bool) -> None:
    """Draw an arrow that leaves and enters at the sides that face each other."""
    if start.x == end.x:
        near = abs(start.y - end.y) < CHIP_HEIGHT + CHIP_GAP + 0.01
        if near:
            down = start.y > end.y
            x = start.x + start.width / 2
            a, b = (x, start.y + (0 if down else CHIP_HEIGHT)), (x, end.y + (CHIP_HEIGHT if down else 0))
            style = "arc3,rad=0"
        else:
            x = start.x + start.width
            a, b = (x, start.y + CHIP_HEIGHT * 0.4), (x, end.y + CHIP_HEIGHT * 0.6)
            style = f"arc3,rad={-0.35 if start.y > end.y else 0.35}"
    else:
        right = start.x < end.x
        a = (start.x + (start.width if right else 0), start.y + CHIP_HEIGHT / 2)
        b = (end.x + (0 if right else end.width), end.y + CHIP_HEIGHT / 2)
        style = "arc3,rad=0.06"
    axes.add_patch(
        FancyArrowPatch(
            a,
            b,
            connectionstyle=style,
            arrowstyle="-|>",
            mutation_scale=8,
            shrinkA=0.5,
            shrinkB=0.5,
            color=WIDE_AREA if between_sites else LOCAL,
            linewidth=1.5 if critical else 0.9,
            linestyle="-" if critical else (0, (4, 2)),
            zorder=4 if between_sites else 3,
        )
    )


def _draw_chip(axes: Axes, component: str, spot: _Spot, color: str) -> None:
    _box(axes, spot, face=color, edge=INK, line=0.7, order=5)
    axes.text(
        spot.x + spot.width / 2,
        spot.y + spot.height / 2 - 0.03,
        component,
        ha="center",
        va="center",
        fontsize=7.5,
        color="white",
        zorder=6,
    )


def _box(axes: Axes, spot: _Spot, *, face: str, edge: str, line: float, order: int) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (spot.x, spot.y),
            spot.width,
            spot.height,
            boxstyle="round,pad=0,rounding_size=0.22",
            facecolor=face,
            edgecolor=edge,
            linewidth=line,
            zorder=order,
        )
    )
