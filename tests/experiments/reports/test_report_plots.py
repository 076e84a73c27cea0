"""Plots of a report stay readable: nothing of them lies on something else."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.text import Text

from experiments.evaluation.page.response import distribution, palette, rates
from replay.analysis.latency import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS: list[dict[str, Any]] = [
    {
        "run": name,
        "latency": {
            key: {"quantiles_ms": [5.0 + 12_000.0 * share for share in GRID], "p50_ms": 6_005.0}
            for key in ("end_to_end", "in_topology")
        },
        "timeline": [{"start_s": s, "out_per_s": 10.0, "in_per_s": 9.0} for s in range(3)],
    }
    for name in ("even", "ras", "stormplace-local-search")
]


def texts(drawn: Figure) -> list[Text]:
    """Titles, labels of the ticks that are shown, and the legend's entries."""
    legends = [*drawn.legends, *(each for axes in drawn.axes if (each := axes.get_legend()) is not None)]
    found = [text for legend in legends for text in legend.get_texts()]
    for axes in drawn.axes:
        found += [text for text in axes.findobj(Text) if text.get_text() == axes.get_title(loc="left")]
        low, high = axes.get_xlim()
        found += [tick.label1 for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in found if text.get_visible() and text.get_text()]


@pytest.mark.parametrize("plot", [distribution, rates])
def test_texts_do_not_overlap(plot: Any) -> None:
    """With three strategies of long names, and times over four decades."""
    drawn = plot(RUNS, palette([run["run"] for run in RUNS]))
    drawn.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(drawn)]
    assert len(boxes) > 6
    overlaps = [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]
    assert not overlaps
