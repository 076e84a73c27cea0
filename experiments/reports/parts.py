"""Where response times go: bars of the network's, Storm's, the components' and Redis' parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.reports.svg import SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

PARTS: Mapping[str, str] = {
    "network": "network between hosts",
    "storm": "Storm: queues, serialisation, pipes",
    "python": "the components' own work",
    "wait": "waiting for the clock",
    "redis": "Redis to source and back",
}


def draw_parts(axes: Axes, names: Sequence[str], parts: Sequence[Mapping[str, float]]) -> list[float]:
    """Draw one bar for each name, from the top, in parts (ms); return their lengths."""
    ends = [0.0] * len(names)
    for (key, label), color in zip(PARTS.items(), SERIES, strict=False):
        widths = [max(each[key], 0.0) for each in parts]
        axes.barh(range(len(names)), widths, left=ends, color=color, label=label, height=0.62)
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    axes.set_yticks(range(len(names)), names)
    return ends
