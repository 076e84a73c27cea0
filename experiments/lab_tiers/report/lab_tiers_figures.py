"""The report's pictures: bytes over uplinks beside those planned, and response times under overload."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.lab_tiers.uplinks import rates
from experiments.reports.axes import dress, lighten, times_ms
from experiments.reports.svg import INK, MUTED, SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.lab_tiers.report.lab_tiers_goals import UplinkUse
    from experiments.lab_tiers.report.tier_turns import TierTurn
    from formats.site_file import SiteFile

_PLANNED, _ROWS, _BACKGROUND = SERIES[1], SERIES[2], "#b6c0c9"
_KILO = 1000.0


def draw_uplinks(path: Path, uses: Sequence[UplinkUse], sites: SiteFile) -> None:
    """Draw for each turn the bytes over each uplink: planned, and measured above the background.

    Args:
        path: PNG to write.
        uses: All uses of all turns.
        sites: The site file.
    """
    labels = list(dict.fromkeys(use.turn.label for use in uses))
    figure = Figure(
        figsize=(1.6 + 1.15 * len(sites.site), 0.9 + 1.75 * len(labels)), dpi=110, layout="constrained"
    )
    panels = figure.subplots(len(labels), 1, sharex=True, sharey=True, squeeze=False)
    for axes, label in zip(panels[:, 0], labels, strict=True):
        own = [use for use in uses if use.turn.label == label]
        at = np.arange(len(own))
        background = [use.background / _KILO for use in own]
        rows = [max(use.measured, 0.0) / _KILO for use in own]
        axes.bar(at - 0.2, background, 0.36, color=_BACKGROUND, label="background")
        axes.bar(at - 0.2, rows, 0.36, bottom=background, color=_ROWS, label="the query's rows, measured")
        known = [(k, use.planned / _KILO) for k, use in enumerate(own) if use.planned is not None]
        axes.bar(
            [k + 0.2 for k, _ in known], [kilo for _, kilo in known], 0.36, color=_PLANNED, label="planned"
        )
        _bandwidths(axes, own)
        dress(axes, label, "", "kB/s")
        lighten(axes, "y")
        axes.set_xticks(at, [use.site for use in own])
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    figure.savefig(path)


def _bandwidths(axes: Axes, uses: Sequence[UplinkUse]) -> None:
    label: str | None = "bandwidth"
    for k, use in enumerate(uses):
        if use.most < float("inf"):
            axes.plot([k - 0.45, k + 0.45], [use.most / _KILO] * 2, color=SERIES[0], linewidth=2, label=label)
            label = None


def draw_overload(path: Path, turns: Sequence[TierTurn], sites: SiteFile) -> None:
    """Draw response times and the use of the source's uplink over time.

    Args:
        path: PNG to write.
        turns: Turns under overload, at least one.
        sites: The site file.
    """
    home = next(site for site in sites.site if site.name == sites.redis)
    figure = Figure(figsize=(10, 6.4), dpi=110, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for turn, color in zip(turns, (SERIES[0], SERIES[2], *SERIES[3:]), strict=False):
        at_s, medians = turn.over_time()
        upper.plot(at_s, medians, "o-", color=color, label=turn.label, linewidth=1.8, markersize=4)
        samples = turn.steady
        begin_s = samples[0].time_s
        pairs = list(pairwise(samples))
        moments = [(one.time_s + other.time_s) / 2 - begin_s for one, other in pairs]
        lower.plot(
            moments,
            [rates(one, other)[home.name] / _KILO for one, other in pairs],
            color=color,
            linewidth=1.6,
        )
    lower.axhline(home.uplink_bytes_per_s / _KILO, color=INK, linestyle="--", linewidth=1.2)
    lower.annotate(
        "bandwidth",
        (1.0, home.uplink_bytes_per_s / _KILO),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=MUTED,
    )
    dress(upper, "Response time of rows by when they came (medians of 5 s)", "", "ms")
    dress(lower, f"All that passes the uplink of {home.name}", "s after the first measured row", "kB/s")
    every = [median for turn in turns for median in turn.over_time()[1]]
    times_ms(upper, min(every), max(every))
    lower.set_ylim(bottom=0)
    upper.legend(frameon=False, fontsize=9)
    figure.savefig(path)
