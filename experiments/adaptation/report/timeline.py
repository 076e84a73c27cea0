"""The picture of a scenario: response times, delays as planned with, where the query ran, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.adaptation.report.labels import LINE_INCHES, Label, arrange, draw_labels, lines_of
from experiments.adaptation.report.panels import (
    EVENT,
    MOVE,
    Clock,
    draw_delays,
    draw_hosts,
    draw_response_times,
)
from experiments.reports.svg import INK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.kept import Event
    from experiments.adaptation.report.phases import Phase
    from formats.site_file import SiteFile

_DPI = 100
_WIDTH, _LEFT, _RIGHT = 17.0, 1.15, 2.75
_HEIGHTS = (3.9, 2.3, 2.1)
_TITLE, _GAP, _BOTTOM = 0.5, 0.3, 0.55
_LABELLED = ("delay", "isolate", "rejoin", "restore")
_TITLE_STYLE: dict[str, Any] = {"fontsize": 13, "weight": "bold", "color": INK}


def draw_timeline(path: Path, scenario: ScenarioData, phases: Sequence[Phase], sites: SiteFile) -> None:
    """Draw a scenario from its first paced row to its last.

    Args:
        path: PNG to write.
        scenario: The scenario.
        phases: Its phases; none if nothing lasting happened.
        sites: The site file.
    """
    clock = Clock(scenario.start_s, scenario.end_s)
    figure = Figure(figsize=(_WIDTH, 1.0), dpi=_DPI)
    FigureCanvasAgg(figure)
    width = (_WIDTH - _LEFT - _RIGHT) * _DPI
    shown = _shown(scenario)
    events = arrange(
        figure, [Label(clock.of(each.time_s), text, EVENT) for each, text in shown], clock.limits, width
    )
    moves = arrange(
        figure,
        [
            Label(
                clock.of(move.time_s),
                f"{move.executors} executors move ({move.reason}), planned in {move.plan_ms:.0f} ms",
                MOVE,
            )
            for move in scenario.measured_moves
        ],
        clock.limits,
        width,
    )
    upper, middle, lower = _panels(figure, lines_of(events), lines_of(moves))
    draw_response_times(upper, scenario, phases, clock)
    draw_delays(middle, scenario, sites, clock)
    draw_hosts(lower, scenario, sites, clock)
    for axes in (upper, middle, lower):
        axes.set_xlim(*clock.limits)
        for each, _ in shown:
            axes.axvline(clock.of(each.time_s), color=EVENT, linewidth=1.0, zorder=2.5)
        for move in scenario.measured_moves:
            axes.axvline(clock.of(move.time_s), color=MOVE, linewidth=1.1, linestyle="--", zorder=2.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.set_label_coords(-0.058, 0.5)
    for axes in (upper, middle):
        axes.tick_params(labelbottom=False)
    lower.set_xlabel(f"{clock.unit} since the first paced row")
    draw_labels(upper, events)
    draw_labels(lower, moves)
    figure.text(_LEFT / _WIDTH, 1 - 0.3 / figure.get_figheight(), _title(scenario), **_TITLE_STYLE)
    figure.savefig(path)


def _panels(figure: Figure, event_lines: int, move_lines: int) -> tuple[Axes, Axes, Axes]:
    """Make the three panels below each other, with room for the labels' lines."""
    above = (_TITLE + event_lines * LINE_INCHES, _GAP, _GAP + move_lines * LINE_INCHES)
    height = sum(above) + sum(_HEIGHTS) + _BOTTOM
    figure.set_figheight(height)
    top, panels = height, []
    for space, high in zip(above, _HEIGHTS, strict=True):
        top -= space + high
        panels.append(
            figure.add_axes((_LEFT / _WIDTH, top / height, (_WIDTH - _LEFT - _RIGHT) / _WIDTH, high / height))
        )
    upper, middle, lower = panels
    return upper, middle, lower


def _shown(scenario: ScenarioData) -> list[tuple[Event, str]]:
    """Return the events that get a line, with their label; of drawn delays only the first ones get one."""
    inside = [each for each in scenario.events if scenario.start_s <= each.time_s <= scenario.end_s]
    drawn = [each for each in inside if each.kind == "noise"]
    first = [(drawn[0], f"{drawn[0].text} (the first of {len(drawn)} times)")] if drawn else []
    return first + [(each, each.text) for each in inside if each.kind in _LABELLED]


def _title(scenario: ScenarioData) -> str:
    done = scenario.done
    strategy = done.settings.get("strategy")
    placed_by = f", strategy {strategy}" if isinstance(strategy, str) else ""
    return f"{done.scenario}: {done.rate:g} rows/s{placed_by}, source and sink at {done.home}"
