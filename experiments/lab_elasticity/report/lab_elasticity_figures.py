"""A turn over time: load and results, executors, hosts, response times and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.lab_elasticity.outcome import WINDOW_S
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from experiments.reports.axes import dress
from experiments.reports.svg import MUTED, SERIES

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.lab_elasticity.report.turns import ElasticityTurn

_FLOOR_S = 0.1


def draw_turn(path: Path, turn: ElasticityTurn) -> None:
    """Draw a turn.

    Args:
        path: PNG to write.
        turn: The turn.
    """
    figure = Figure(figsize=(11.0, 10.0), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    load, executors, hosts, times = figure.subplots(4, 1, sharex=True)
    windows = turn.outcome.windows
    middles = [each.from_s + WINDOW_S / 2 for each in windows]
    load.plot(middles, [each.rate for each in windows], color=MUTED, label="due", drawstyle="steps-mid")
    load.plot(middles, [each.result_rate for each in windows], color=SERIES[1], label="came", linewidth=1.2)
    dress(load, f"{turn.done.label}, load {turn.done.load}", "", "items/s")
    for scaled, color in zip(BY_NAME[turn.done.workload].scaled, SERIES, strict=False):
        counts = [each.executors.get(scaled.name, 0) for each in windows]
        executors.plot(middles, counts, color=color, label=scaled.name, drawstyle="steps-mid")
    dress(executors, "", "", "executors")
    own = [each.hosts for each in windows]
    hosts.fill_between(middles, own, step="mid", color=SERIES[2], alpha=0.3, linewidth=0, label="hosts")
    hosts.axhline(turn.done.static_hosts, color=MUTED, linestyle="--", linewidth=1, label="for the peak")
    hosts.set_ylim(0, max(*own, turn.done.static_hosts) + 1)
    dress(hosts, "", "", "hosts")
    times.plot(middles, [each.p95_s for each in windows], color=SERIES[0], label="p95")
    times.plot(middles, [each.mean_s for each in windows], color=SERIES[1], label="mean")
    times.axhline(turn.done.bound_s, color=MUTED, linestyle="--", linewidth=1, label="bound")
    times.set_yscale("log")
    times.set_ylim(bottom=_FLOOR_S)
    dress(times, "", "s since the start", "response time, s")
    waits = times.twinx()
    waits.fill_between(middles, [each.waiting for each in windows], color=MUTED, alpha=0.2, linewidth=0)
    waits.set_ylim(bottom=0)
    waits.set_ylabel("items that wait (grey)", color=MUTED, fontsize=9)
    waits.tick_params(colors=MUTED, labelcolor=MUTED, labelsize=8.5)
    waits.spines[["top", "right", "left", "bottom"]].set_visible(False)
    for axes in (load, executors, hosts, times):
        for each in turn.outcome.changes:
            axes.axvline(each.at_s, color=SERIES[3], linewidth=0.7, alpha=0.6)
        for at_s in turn.done.kills_s:
            axes.axvline(at_s - turn.outcome.start_s, color=SERIES[0], linewidth=0.9, linestyle=":")
        _explain(axes)
    figure.savefig(path)


def _explain(axes: Axes) -> None:
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=3)
