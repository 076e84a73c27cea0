"""Timelines: response time of every tuple and cost per second, one column per variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.replacement.cluster.report.pauses import pauses
from experiments.reports.axes import dress, logarithmic
from experiments.reports.svg import INK, MUTED, SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.replacement.cluster.report.finished_turn import TurnData

_DPI = 100
_COLUMN, _HEIGHT = 4.6, 7.4
_EVENT = SERIES[0]


def draw_timelines(path: Path, turns: Mapping[str, Sequence[TurnData]], titles: Mapping[str, str]) -> None:
    """Draw variants beside each other; repetitions have colours of their own.

    Args:
        path: PNG to write.
        turns: Turns by variant; at least one of each.
        titles: Title by variant.
    """
    wide = _COLUMN * len(turns) + 0.6 if len(turns) > 1 else 2.2 * _COLUMN
    figure = Figure(figsize=(wide, _HEIGHT), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(
        2, len(turns), squeeze=False, sharex="col", sharey="row", height_ratios=(3.0, 2.0)
    )
    for (upper, lower), (variant, several) in zip(panels.T, turns.items(), strict=True):
        first = upper is panels[0][0]
        dress(upper, titles[variant], "", "response time, s (logarithmic)" if first else "")
        dress(lower, "", "s after the first measured tuple", "cost, CU/s (each host once)" if first else "")
        for turn, color in zip(several, SERIES[1:], strict=False):
            _draw(upper, lower, turn, color)
        for turn in several[:1]:
            _mark(upper, lower, turn)
        if any(each.moves for each in several):
            _legend(upper, several)
    panels[0][0].set_yscale("log")
    logarithmic(panels[0][0].yaxis)
    low, high = panels[0][0].get_ylim()
    # room for words
    panels[0][0].set_ylim(low * 0.9, high * 1.8)
    panels[1][0].set_ylim(bottom=0)
    figure.savefig(path)


def _draw(upper: Axes, lower: Axes, turn: TurnData, color: str) -> None:
    tuples = turn.tuples
    upper.plot(
        tuples.emitted_s - turn.start_s,
        tuples.response_s,
        ".",
        color=color,
        markersize=4,
        label=f"run {turn.done.repetition}",
    )
    begins = [max(each.from_s - turn.start_s, 0.0) for each in turn.stays]
    costs = [turn.cost_of(each.hosts, per_host=True) for each in turn.stays]
    end = turn.end_s - turn.start_s
    lower.step([*begins, end], [*costs, costs[-1]], where="post", color=color, linewidth=1.8)
    models = [turn.model_s(each.hosts) for each in turn.stays]
    upper.step([*begins, end], [*models, models[-1]], where="post", color=color, linewidth=1.0, alpha=0.6)
    for pause in pauses(turn):
        for axes in (upper, lower):
            axes.axvline(pause.at_s, color=color, linestyle="--", linewidth=1.0)
        predicted = "" if pause.predicted_s is None else f", {pause.predicted_s:.0f} s predicted"
        lower.annotate(
            f"{pause.move.executors} executors move:\nno result for {pause.silent_s:.0f} s{predicted}",
            (pause.at_s, 0.02 + 0.13 * ((turn.done.repetition - 1) % 3)),
            xycoords=lower.get_xaxis_transform(),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=8,
            color=color,
        )


def _mark(upper: Axes, lower: Axes, turn: TurnData) -> None:
    for number, event in enumerate(turn.events):
        at = event.time_s - turn.start_s
        for axes in (upper, lower):
            axes.axvline(at, color=_EVENT, linewidth=1.2)
        upper.annotate(
            event.text,
            (at, 0.975 - 0.05 * number),
            xycoords=upper.get_xaxis_transform(),
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=8.5,
            va="top",
            color=_EVENT,
        )


def _legend(axes: Axes, turns: Sequence[TurnData]) -> None:
    axes.plot([], [], color=MUTED, linewidth=1.0, label="by the model")
    axes.plot([], [], color=MUTED, linestyle="--", linewidth=1.0, label="move")
    axes.legend(
        fontsize=8, labelcolor=INK, frameon=False, loc="center left", ncols=2 if len(turns) > 1 else 1
    )
