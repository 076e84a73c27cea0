"""Plots of response times: their distribution, and their course over a run with the rows per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from experiments.reports.axes import dress, legend, logarithmic_ms, times_ms
from experiments.reports.svg import MUTED, SERIES, figure
from replay.analysis.latency import GRID as QUANTILES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

LEAST_MS = 0.5
"""A logarithmic axis cannot show 0 ms; the clock of the results has steps of 1 ms."""

Run = dict[str, Any]
"""One query of one run, as `replay.analysis.analyse` describes it."""


def distribution(runs: Sequence[Run], colors: Mapping[str, str]) -> Figure:
    """Draw which share of the rows was answered within which time, end to end and in the topology."""
    drawn = figure(9.6, 3.7)
    kinds = [
        kind
        for kind in (("end_to_end", "End to end"), ("in_topology", "In the topology"))
        if kind[0] in runs[0]["latency"]
    ]
    panels = drawn.subplots(1, len(kinds), sharex=True, sharey=True, squeeze=False)[0]
    left, right = panels[0], panels[-1]
    for axes, (key, title) in zip(panels, kinds, strict=True):
        for run in runs:
            times = [max(each, LEAST_MS) for each in run["latency"][key]["quantiles_ms"]]
            median = max(run["latency"][key]["p50_ms"], LEAST_MS)
            axes.plot(times, QUANTILES, color=colors[run["run"]], linewidth=2.0, label=run["run"])
            axes.plot([median], [0.5], "o", color=colors[run["run"]], markersize=6)
        dress(axes, title, "response time, ms (logarithmic)", "share of the answers")
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95], ["0", "25 %", "50 %", "75 %", "95 %"])
        axes.axhline(0.5, color=MUTED, linewidth=0.7, linestyle=":")
    if right is not left:
        right.set_ylabel("")
    left.set_xscale("log")
    low, high = left.get_xlim()
    left.set_xlim(low / 1.2, high * 1.2)
    logarithmic_ms(left, "x")
    legend(right, len(runs))
    return drawn


def course(runs: Sequence[Run], colors: Mapping[str, str]) -> Figure:
    """Draw the median of the measured rows with its range up to the 95th percentile over the run's time."""
    drawn = figure(9.6, 3.3)
    axes = drawn.subplots()
    everything: list[float] = []
    for run in runs:
        slices = [each for each in run["timeline"] if each["measured"]]
        start = slices[0]["start_s"]
        times = [each["start_s"] - start for each in slices]
        medians = [max(each["p50_ms"], LEAST_MS) for each in slices]
        highs = [max(each["p95_ms"], LEAST_MS) for each in slices]
        everything += [*medians, *highs]
        color = colors[run["run"]]
        axes.plot(times, medians, color=color, linewidth=1.8, label=run["run"])
        axes.fill_between(times, medians, highs, color=color, alpha=0.22, linewidth=0)
    width = runs[0]["slice_s"]
    title = f"Median (line) and 95th percentile (upper edge), slices of {width} s"
    dress(axes, title, "seconds since the first measured one", "end to end, ms")
    axes.margins(x=0.01)
    times_ms(axes, min(everything), max(everything))
    legend(axes, len(runs))
    return drawn


def rates(runs: Sequence[Run], colors: Mapping[str, str]) -> Figure:
    """Draw the results per second over the run's time, and dashed the rows that came in."""
    drawn = figure(9.6, 3.0)
    axes = drawn.subplots()
    for run in runs:
        slices = run["timeline"]
        times = [each["start_s"] for each in slices]
        color = colors[run["run"]]
        out = [each["out_per_s"] for each in slices]
        axes.step(times, out, where="post", color=color, linewidth=1.6, label=f"{run['run']}: results")
        rows = [each["in_per_s"] for each in slices]
        axes.step(
            times,
            rows,
            where="post",
            color=color,
            linewidth=0.9,
            linestyle=":",
            label=f"{run['run']}: rows in",
        )
    dress(
        axes, "Rows in and results out", "seconds since the run's first row", "rows per second (logarithmic)"
    )
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.margins(x=0.01)
    legend(axes, 2 * len(runs))
    return drawn


def palette(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each run, in order."""
    return {name: SERIES[place % len(SERIES)] for place, name in enumerate(dict.fromkeys(names))}
