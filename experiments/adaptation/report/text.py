"""The report's text: targets, phases, moves, minutes and rows, as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.adaptation.report.adaptation_goals import lost_in_words
from experiments.adaptation.report.minutes import find_minutes
from experiments.busy import busy_sentence
from experiments.reports.markdown import distinct, table
from experiments.reports.targets import target_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.kept import Scenario
    from experiments.adaptation.report.minutes import Minute
    from experiments.adaptation.report.moves import Move
    from experiments.adaptation.report.phases import Phase
    from experiments.reports.targets import Target

_HEADINGS: Mapping[Scenario, str] = {
    "changes": "A delay changes, a site is cut off, it comes back",
    "noise": "Delays err by up to 20 %",
    "stable": "Nothing changes",
}
_PHASES = (
    "change",
    "at, s",
    "before, ms",
    "until recovery, ms",
    "longest, s",
    "no result for, s",
    "settled, ms",
    "expected, ms",
    "seen after, s",
    "first move after, s",
    "planning, ms",
    "first back after, s",
    "back after, s",
    "moves",
    "rows without result",
)
_PHASE_NOTE = (
    "Response times end to end, from the row being available in Redis to its first result being there. "
    "Before and settled: median of the 30 s before this change and before the next one. Until recovery: "
    "median of the rows that came before the response time was back. Back: from then on until the next "
    "change the median of 5 s is at most 1.2 times the settled level, no more rows wait than come in 5 s, "
    "and no 5 s pass without a row that has a result. First back: the same for 30 s, after the last move; "
    "what lies between is another disturbance. Expected: what the last move since the first change promised "
    "(its R, and the ways from and to Redis), at least the calm level. A query that settles above 1.2 times "
    "that, that becomes slower than 1.2 times before and does not move, or that does not end well, is not "
    "back. Seen: the first round whose delays show more than "
    "half of the change; of a site that is cut off, the first that knows no delay of it or has taken an "
    "executor from it. Times after the change."
)
_MOVES = ("at, s", "why", "executors", "workers", "gain", "planning, ms", "R before, ms", "R expected, ms")
_MINUTES = ("minute", "rows", "without result", "median, ms", "p95, ms", "longest, ms", "moves")


def markdown(
    scenarios: Mapping[Scenario, ScenarioData],
    phases: Sequence[Phase],
    found: Sequence[Target],
    pictures: Mapping[Scenario, str],
) -> str:
    """Return the report.

    Args:
        scenarios: Finished scenarios, in the order of the report.
        phases: Phases of the scenario `changes`.
        found: Targets.
        pictures: File name of each scenario's timeline.
    """
    lines = ["# Adaptation of the taxi query to a changing network", ""]
    lines += [*_origin(list(scenarios.values())), "", *target_table(found), ""]
    for name, scenario in scenarios.items():
        lines += [f"## {name}: {_HEADINGS[name]}", "", *_facts(scenario), ""]
        if name == "changes":
            rows = [_phase(scenario, phase) for phase in phases]
            lines += [*table(_PHASES, rows), "", _PHASE_NOTE, ""]
        lines += [f"![Timeline of {name}]({pictures[name]})", ""]
        if scenario.moves:
            lines += [*_moves(scenario), ""]
        if name != "changes":
            lines += [*_minutes(find_minutes(scenario)), ""]
    return "\n".join(lines)


def _origin(scenarios: Sequence[ScenarioData]) -> list[str]:
    done = [each.done for each in scenarios]
    return [
        busy_sentence({each.scenario: each.busy for each in done}),
        f"{distinct(each.machine for each in done)}; {distinct(each.date for each in done)}; "
        f"commit {distinct(each.commit for each in done)}.",
    ]


def _facts(scenario: ScenarioData) -> list[str]:
    done, rows = scenario.done, scenario.rows
    inside = [each for each in scenario.rounds if scenario.start_s <= each.time_s <= scenario.end_s]
    early = sum(move.time_s < scenario.start_s for move in scenario.moves)
    late = sum(move.time_s > scenario.end_s for move in scenario.moves)
    facts = [
        f"{(scenario.end_s - scenario.start_s) / 60:.1f} minutes at {done.rate:g} rows/s, after "
        f"{done.fast_rows:,} fast rows.",
        f"Moves: {len(scenario.measured_moves)}, before the paced rows {early}, after them {late}.",
        f"Rounds of the daemon: {len(inside)}, longest time without one {scenario.longest_pause_s:.0f} s, "
        f"{sum(each.timed_out for each in inside)} cut short by the clock.",
        f"Rows without result: {lost_in_words(rows)}. Results that came once more: {rows.repeated:,}; rows "
        f"that the source sent again: {rows.replayed:,}.",
        f"Answers: {scenario.answers.told}.",
        *(f"Fault: {fault}." for fault in done.faults),
        *(f"**In doubt**: {doubt}." for doubt in scenario.doubts),
    ]
    return [f"* {fact}" for fact in facts]


def _phase(scenario: ScenarioData, phase: Phase) -> list[str]:
    return [
        phase.event.text,
        f"{phase.event.time_s - scenario.start_s:.1f}",
        _number(phase.before_ms, "not settled"),
        _number(phase.during_ms, "-"),
        "-" if phase.longest_ms is None else f"{phase.longest_ms / 1000:.1f}",
        f"{phase.silence_s:.1f}",
        _number(phase.settled_ms, "not settled"),
        _number(phase.expected_ms, "not known"),
        _number(phase.seen_s, "never"),
        _number(phase.moved_s, "-"),
        " / ".join(f"{move.plan_ms:.0f}" for move in phase.moves) or "-",
        _number(phase.first_back_s, "-"),
        _number(phase.recovered_s, "**not back**" if phase.known else "not known"),
        ", ".join(f"{move.executors} ({move.reason})" for move in phase.moves) or "none",
        str(phase.lost) if scenario.rows.by_expected_answers else "unknown",
    ]


def _moves(scenario: ScenarioData) -> list[str]:
    rows = [
        [
            f"{move.time_s - scenario.start_s:.1f}",
            move.reason,
            str(move.executors),
            str(move.workers),
            f"{move.gain:.0%}" if move.reason == "gain" else "-",
            f"{move.plan_ms:.0f}",
            _number(move.before_ms, "-"),
            _number(move.after_ms, "-"),
        ]
        for move in scenario.moves
    ]
    told = [_status(scenario, move) for move in scenario.moves]
    return ["### Moves", "", *table(_MOVES, rows), "", "Status lines:", "", *told]


def _status(scenario: ScenarioData, move: Move) -> str:
    return f"* {move.time_s - scenario.start_s:.1f} s: {move.status}"


def _minutes(minutes: Sequence[Minute]) -> list[str]:
    rows = [
        [
            str(each.number),
            str(each.rows),
            str(each.lost),
            _number(each.median_ms, "-"),
            _number(each.p95_ms, "-"),
            _number(each.longest_ms, "-"),
            str(each.moves),
        ]
        for each in minutes
    ]
    medians = [each.median_ms for each in minutes if each.median_ms is not None]
    summary = f"Minute by minute: medians {min(medians):.1f} to {max(medians):.1f} ms"
    return [f"<details><summary>{summary}</summary>", "", *table(_MINUTES, rows), "", "</details>"]


def _number(value: float | None, otherwise: str) -> str:
    if value is None:
        return otherwise
    return "no result" if math.isinf(value) else f"{value:.1f}"
