"""Whether the targets of the experiment are met; what no finished scenario shows is not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.adaptation.report.deliveries import Deliveries
    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.kept import Scenario
    from experiments.adaptation.report.phases import Phase

MOST_RECOVERY_S = 90.0
MOST_PLANNING_MS = 1000.0
NOISE_MIN = 15.0
STABLE_MIN = 60.0
_MISSING = "the scenario has not been run"
_CHANGES = {
    "delay": "a delay in use changes",
    "isolate": "a site in use is cut off",
    "rejoin": "the site is back",
}
_ROUNDING_MIN = 0.05


def targets(scenarios: Mapping[Scenario, ScenarioData], phases: Sequence[Phase]) -> tuple[Target, ...]:
    """Compare with the targets.

    Args:
        scenarios: Finished scenarios by name.
        phases: Phases of the scenario `changes`; none if it is not finished.
    """
    changes = scenarios.get("changes")
    return (
        *(_recovered(kind, phases) for kind in _CHANGES),
        _planning(phases),
        *(_moved(kind, 1, changes, phases) for kind in ("delay", "isolate")),
        _moved("rejoin", 0, changes, phases),
        _lost(changes),
        _unmoved("no move in a quarter of an hour of delays within 20 %", scenarios.get("noise"), NOISE_MIN),
        _right("all answers as expected under these delays", scenarios.get("noise"), NOISE_MIN),
        _unmoved("no move in an hour without change", scenarios.get("stable"), STABLE_MIN),
        _right("all answers as expected in that hour", scenarios.get("stable"), STABLE_MIN),
    )


def _recovered(kind: str, phases: Sequence[Phase]) -> Target:
    text = f"{_CHANGES[kind]}: response time back within {MOST_RECOVERY_S:g} s"
    found = [phase for phase in phases if phase.event.kind == kind]
    if not found:
        return Target(text, _MISSING, None)
    measured = ", ".join(_back(phase) for phase in found)
    if not all(phase.known for phase in found):
        return Target(text, measured, None)
    reached = all(each.recovered_s is not None and each.recovered_s <= MOST_RECOVERY_S for each in found)
    return Target(text, measured, reached)


def _back(phase: Phase) -> str:
    if phase.recovered_s is not None:
        measured = f"{phase.recovered_s:.1f} s"
        again = phase.first_back_s is not None and phase.first_back_s < phase.recovered_s
        return (
            f"{measured}, for half a minute already after {phase.first_back_s:.1f} s" if again else measured
        )
    if phase.settled_ms is None:
        return "not settled before the next event"
    levels = (("expected", phase.expected_ms), ("before", phase.before_ms))
    measured = ", ".join(
        [
            f"settled at {phase.settled_ms:.1f} ms",
            *(f"{word} {ms:.1f} ms" for word, ms in levels if ms is not None),
        ]
    )
    if not phase.known:
        return f"{measured}; not known what to expect"
    return f"not back before the next event: {measured}"


def _planning(phases: Sequence[Phase]) -> Target:
    text = f"planning of each move under {MOST_PLANNING_MS / 1000:g} s"
    times_ms = [move.plan_ms for phase in phases for move in phase.moves]
    if not times_ms:
        return Target(text, "no move" if phases else _MISSING, None)
    return Target(text, f"at most {max(times_ms):.0f} ms", max(times_ms) < MOST_PLANNING_MS)


def _moved(kind: str, least: int, changes: ScenarioData | None, phases: Sequence[Phase]) -> Target:
    text = f"{_CHANGES[kind]}: the query moves {'once' if least else 'at most once'}"
    found = [phase for phase in phases if phase.event.kind == kind]
    if changes is None or not found:
        return Target(text, _MISSING, None)
    measured = ", ".join(_moves(len(phase.moves)) for phase in found)
    if changes.doubts:
        return Target(text, f"{measured}; {changes.doubts[0]}", None)
    return Target(text, measured, all(least <= len(phase.moves) <= 1 for phase in found))


def _lost(changes: ScenarioData | None) -> Target:
    text = "no row without result"
    if changes is None:
        return Target(text, _MISSING, None)
    lost = changes.rows.lost
    return Target(text, lost_in_words(changes.rows), None if lost is None else lost == 0)


def lost_in_words(rows: Deliveries) -> str:
    """Return in words how many rows have no result, and what that number rests on."""
    if rows.lost is None:
        return (
            "not known: there are no expected answers, and the query's own count is missing: the filter was "
            "restarted and counted anew, or the query did not come to its end"
        )
    source = "the expected answers" if rows.by_expected_answers else "the query's own count"
    return f"{rows.lost:,} of {rows.wanted:,} by {source}"


def _unmoved(text: str, scenario: ScenarioData | None, least_min: float) -> Target:
    if scenario is None:
        return Target(text, _MISSING, None)
    count = len(scenario.measured_moves)
    measured = f"{_moves(count)} in {_minutes(scenario):.1f} min"
    if count:
        return Target(text, measured, reached=False)
    if scenario.doubts:
        return Target(text, f"{measured}; {scenario.doubts[0]}", None)
    return Target(text, measured, _whole(scenario, least_min) or None)


def _right(text: str, scenario: ScenarioData | None, least_min: float) -> Target:
    if scenario is None:
        return Target(text, _MISSING, None)
    answers = scenario.answers
    if answers.equal and not _whole(scenario, least_min):
        return Target(text, f"{answers.sentence} in {_minutes(scenario):.1f} min", None)
    return Target(text, answers.sentence, answers.equal)


def _minutes(scenario: ScenarioData) -> float:
    return (scenario.end_s - scenario.start_s) / 60.0


def _whole(scenario: ScenarioData, least_min: float) -> bool:
    """Whether its paced rows came for so many minutes; in less, nothing wrong proves nothing."""
    # feeding a fixed number of rows ends a moment before the hour does
    return _minutes(scenario) >= least_min - _ROUNDING_MIN


def _moves(count: int) -> str:
    return "1 move" if count == 1 else f"{count} moves"
