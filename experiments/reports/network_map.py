"""The picture of a network: a map of its hosts, and how well the map agrees with measurements."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.reports.axes import lighten, logarithmic
from experiments.reports.label_places import Box, place_labels
from experiments.reports.svg import INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from bridge.network.geography import Geography, HostView
    from scheduler.base.arrays import FloatArray

FAINT = "#9aa5b1"
# After Okabe and Ito: apart for colour-blind readers; beyond them labels alone set hues apart.
COLORS = ("#0072b2", "#d55e00", "#00805c", "#8e4585", "#a08000", "#3aa0d8", "#c0392b", "#555555")
TITLE: dict[str, Any] = {"fontsize": 11, "loc": "left", "weight": "bold", "color": INK}
_ABOVE: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "frameon": False, "fontsize": 9}
_MOST_LABELS = 40
# inches
_LEFT, _MAP_WIDTH, _BETWEEN, _RIGHT, _BOTTOM, _TOP = 0.9, 10.0, 1.1, 0.3, 0.85, 1.05
_MAP_HEIGHTS = (5.4, 7.6)
# A delay of 0 ms cannot stand on a logarithmic axis; agents' clocks do not resolve less.
_LEAST_MS = 0.01


def draw_network(path: Path, geography: Geography, origin: str) -> Figure:
    """Draw the picture and write it as PNG.

    Args:
        path: File to write; it is not touched before the picture is complete.
        geography: The network.
        origin: Where the readings are from; it stands after the picture's title.

    Returns:
        What was drawn.

    Raises:
        OSError: The file cannot be written.
    """
    map_height = _map_height(geography)
    width, height = _LEFT + _MAP_WIDTH + _BETWEEN + map_height + _RIGHT, _BOTTOM + map_height + _TOP
    figure = Figure(figsize=(width, height), dpi=110)
    FigureCanvasAgg(figure)
    figure.text(
        _LEFT / width,
        1 - 0.35 / height,
        f"The network as its agents measure it: {origin}",
        fontsize=14,
        weight="bold",
        va="center",
        color=INK,
    )
    for left, wide, draw in (
        (_LEFT, _MAP_WIDTH, _draw_map),
        (_LEFT + _MAP_WIDTH + _BETWEEN, map_height, _draw_agreement),
    ):
        place = (left / width, _BOTTOM / height, wide / width, map_height / height)
        draw(figure.add_axes(place), geography)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    path.write_bytes(picture.getvalue())
    return figure


def _map_height(geography: Geography) -> float:
    """Return a height of the map, inches, that leaves little of it empty; a wide network needs less."""
    positions = [host.coordinate.position_ms for host in geography.hosts if host.coordinate is not None]
    if not positions:
        return _MAP_HEIGHTS[0]
    span = np.maximum(np.ptp(flattened(np.array(positions))[0], axis=0), 1.0)
    return float(np.clip(_MAP_WIDTH * span[1] / span[0], *_MAP_HEIGHTS))


def flattened(positions_ms: FloatArray) -> tuple[FloatArray, float]:
    """Project positions onto the plane that keeps most of their spread (principal components).

    Args:
        positions_ms: (n_hosts, n_dimensions).

    Returns:
        (n_hosts, 2) positions around their mean, ms, and the share of the variance that is kept.
    """
    centred = positions_ms - positions_ms.mean(axis=0)
    _, strength, axes = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(centred), 2))
    kept = min(2, len(axes))
    # The sign of a component is arbitrary: its greatest element points up, so that maps of one network agree.
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:kept]
    flat[:, :kept] = centred @ axes[:kept].T * signs
    total = float((strength**2).sum())
    return flat, float((strength[:2] ** 2).sum()) / total if total > 0 else 1.0


def _draw_map(axes: Axes, geography: Geography) -> None:
    hosts = [host for host in geography.hosts if host.coordinate is not None]
    if not hosts:
        _say_instead(axes, "Map of hosts", "no host has a coordinate that is used")
        return
    flat, kept = flattened(np.array([host.coordinate.position_ms for host in hosts if host.coordinate]))
    height = np.array([host.coordinate.height_ms for host in hosts if host.coordinate])
    sites = [host.site for host in hosts]
    color = _colors(geography.sites)
    colors = [color[site] for site in sites]
    alpha = 0.13 if len(hosts) <= 100 else 0.04
    axes.add_collection(
        EllipseCollection(
            2 * height,
            2 * height,
            np.zeros(len(hosts)),
            units="xy",
            offsets=flat,
            offset_transform=axes.transData,
            facecolors=colors,
            edgecolors=colors,
            alpha=alpha,
            zorder=1,
        )
    )
    axes.scatter(
        flat[:, 0], flat[:, 1], s=_dot(2 * len(hosts)), c=colors, edgecolors="white", linewidths=0.5, zorder=3
    )
    _set_limits(axes, flat, height)
    # radii of circles and dots, pixels
    widest = float(height.max()) * axes.transData.get_matrix()[0, 0]
    hidden = widest <= _dot_radius(2 * len(hosts)) * axes.figure.dpi / 72
    _label_sites(axes, hosts, flat, color)
    total = len(geography.hosts)
    title = (
        f"Map of {total} hosts"
        if len(hosts) == total
        else f"Map: {len(hosts)} of {total} hosts have a coordinate"
    )
    axes.set_title(title, **TITLE)
    trusted = geography.delays.embedding.trusted
    axes.set_xlabel(
        f"ms, one way (coordinates in the plane that keeps {_kept(kept)} of their spread)"
        + ("" if trusted else "\nCoordinates contradict measurements and are NOT used for planning")
    )
    axes.set_ylabel("ms, one way")
    lighten(axes)
    handles = [Line2D([], [], marker="o", linestyle="", color=INK, markersize=6, label="host")]
    if hidden:
        limit = f"heights, up to {height.max():.2g} ms, are smaller than the dots"
        rule = f"delay = distance + both heights; {limit}"
        handles.append(Line2D([], [], linestyle="", label=rule))
    else:
        rule = "radius: its height; delay = distance + both heights"
        circle: dict[str, Any] = {
            "marker": "o",
            "linestyle": "",
            "color": INK,
            "alpha": 0.25,
            "markersize": 13,
        }
        handles.append(Line2D([], [], **circle, label=rule))
    axes.legend(handles=handles, **_ABOVE, ncols=2)


def _dot(count: int) -> float:
    """Return the area of a dot that leaves `count` of them apart."""
    return 70.0 if count <= 100 else 44.0 if count <= 1000 else 12.0


def _dot_radius(count: int) -> float:
    """Return the radius of such a dot in points; matplotlib takes the square of its diameter as area."""
    return math.sqrt(_dot(count)) / 2


def _kept(share: float) -> str:
    return "all" if share > 0.995 else f"{100 * share:.0f} %"


def _colors(sites: Sequence[str]) -> dict[str | None, Any]:
    """Give each site a colour; hosts without a site are grey."""
    found: dict[str | None, Any] = {None: FAINT}
    if len(sites) <= len(COLORS):
        return found | dict(zip(sites, COLORS, strict=False))
    wheel = colormaps["gist_rainbow"](np.linspace(0, 1, len(sites)))
    wheel[:, :3] *= 0.8  # light yellow could not be read on white
    # Neighbours in the list are often neighbours on the map: they get hues that are far apart.
    order = np.argsort([(index * 0.618034) % 1.0 for index in range(len(sites))])
    return found | {site: wheel[place] for site, place in zip(sites, order, strict=True)}


def _set_limits(axes: Axes, flat: FloatArray, height: FloatArray) -> None:
    """Show all circles with a margin, a millisecond as long across as up."""
    low, high = (flat - height[:, None]).min(axis=0), (flat + height[:, None]).max(axis=0)
    box = axes.get_window_extent()
    # A single host, or several in one place, still need an axis.
    span = np.maximum(high - low, 1.0) * 1.3
    per_pixel = max(span[0] / box.width, span[1] / box.height)
    centre = (low + high) / 2
    axes.set_xlim(centre[0] - per_pixel * box.width / 2, centre[0] + per_pixel * box.width / 2)
    axes.set_ylim(centre[1] - per_pixel * box.height / 2, centre[1] + per_pixel * box.height / 2)


def _label_sites(
    axes: Axes, hosts: Sequence[HostView], flat: FloatArray, color: Mapping[str | None, Any]
) -> None:
    """Write the name of each site beside its hosts, the largest sites first."""
    pixels = axes.transData.transform(flat)
    members: dict[str, list[int]] = {}
    for index, host in enumerate(hosts):
        if host.site is not None:
            members.setdefault(host.site, []).append(index)
    sites = sorted(members, key=lambda site: (-len(members[site]), site))[:_MOST_LABELS]
    if not sites:
        return
    centres = [np.median(pixels[members[site]], axis=0) for site in sites]
    texts = [
        axes.text(
            0, 0, f"{site} ({len(members[site])})", fontsize=10, weight="bold", color=color[site], zorder=5
        )
        for site in sites
    ]
    extents = [text.get_window_extent() for text in texts]
    frame = axes.get_window_extent()
    boxes = place_labels(
        [(float(x), float(y)) for x, y in centres],
        [(extent.width + 8, extent.height + 6) for extent in extents],
        [Box(float(x), float(y), 12.0, 12.0) for x, y in pixels],
        Box((frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2, frame.width, frame.height),
    )
    for text, box, centre, site in zip(texts, boxes, centres, sites, strict=True):
        text.set_horizontalalignment("center")
        text.set_verticalalignment("center")
        text.set_position(tuple(axes.transData.inverted().transform((box.x, box.y))))
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
        axes.annotate(
            "",
            xy=tuple(axes.transData.inverted().transform(centre)),
            xytext=text.get_position(),
            arrowprops={"arrowstyle": "-", "color": color[site], "linewidth": 0.9},
            zorder=2,
        )


def _draw_agreement(axes: Axes, geography: Geography) -> None:
    judged, embedding = geography.judged, geography.delays.embedding
    title = "Coordinates against measured delays"
    if embedding.error is None:
        _say_instead(axes, title, "no pair with coordinates has a fresh direct link")
        return
    measured = np.maximum(judged.measured_ms, _LEAST_MS)
    embedded = np.maximum(judged.embedded_ms, _LEAST_MS)
    low = 0.6 * float(min(measured.min(), embedded.min()))
    high = 1.6 * float(max(measured.max(), embedded.max()))
    line = np.geomspace(low, high, 100)
    limit = geography.max_embedding_error
    # the relative error counts delays below 1 ms as 1 ms
    slack = limit * np.maximum(line, 1.0)
    axes.fill_between(
        line,
        np.maximum(line - slack, low),
        line + slack,
        color="#e4e7eb",
        linewidth=0,
        label=f"within {100 * limit:g} %",
    )
    axes.plot(line, line, color=INK, linewidth=1.0, label="equal")
    for same, color, name in ((False, COLORS[0], "between sites"), (True, COLORS[1], "within a site")):
        chosen = judged.same_site == same
        if chosen.any():
            axes.scatter(
                measured[chosen],
                embedded[chosen],
                s=_dot(len(measured)) / 2,
                color=color,
                alpha=0.45,
                linewidths=0,
                label=f"{name} ({int(chosen.sum())} pairs)",
                zorder=3,
            )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axes.set_aspect("equal", anchor="N")
    logarithmic(axes.xaxis)
    logarithmic(axes.yaxis)
    axes.set_xlabel("measured directly, ms one way (logarithmic)")
    axes.set_ylabel("by coordinates, ms one way")
    lighten(axes)
    axes.legend(loc="upper left", fontsize=9, frameon=True)
    axes.set_title(f"{title}: median error {100 * embedding.error:.1f} %", **TITLE)


def _say_instead(axes: Axes, title: str, text: str) -> None:
    axes.set_title(title, **TITLE)
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, fontsize=11, color=INK)
    axes.set_xticks([])
    axes.set_yticks([])
