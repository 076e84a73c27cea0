"""Whether the targets of the experiment are met; what no finished turn shows is not measured."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from experiments.replacement.cluster.lab_changes import EMPTY_WITHIN_S
from experiments.replacement.cluster.report.finished_turn import END_S
from experiments.replacement.cluster.report.pauses import pauses
from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.replacement.cluster.report.finished_turn import TurnData

LEAST_DROP = 0.3
LARGEST_PAUSE_ERROR = 0.3
AS_PLANNED = 1.2
"""Most that a response time may be, as a multiple of the model's, to be as planned."""


def targets(turns: Mapping[str, Sequence[TurnData]]) -> tuple[Target, ...]:
    """Compare with what the experiment has to show.

    Args:
        turns: Finished turns by variant.
    """
    dynamic, static = turns.get("dynamic", ()), turns.get("static", ())
    everything = [each for several in turns.values() for each in several]
    return (
        _drop(static, dynamic),
        _moves(static, dynamic),
        _lost(everything),
        _predicted(dynamic),
        *_drain(turns.get("drain", ())),
    )


def _at_end(turns: Sequence[TurnData]) -> float | None:
    """Return the mean response time at the end; None if a turn has none, or there are none."""
    known = [each.response_at_end_s for each in turns if each.response_at_end_s is not None]
    return statistics.fmean(known) if known and len(known) == len(turns) else None


def _drop(static: Sequence[TurnData], dynamic: Sequence[TurnData]) -> Target:
    text = f"response time at the end with Dynamic at least {LEAST_DROP:.0%} below Static's (paper: 31.5 %)"
    before_s, after_s = _at_end(static), _at_end(dynamic)
    if before_s is None or after_s is None:
        return Target(text, "-", None)
    drop = 1.0 - after_s / before_s
    return Target(text, f"{after_s:.2f} s, Static {before_s:.2f} s: {drop:.1%} below", drop >= LEAST_DROP)


def _moves(static: Sequence[TurnData], dynamic: Sequence[TurnData]) -> Target:
    text = "Dynamic moves only after the fog host has joined, and does; Static never"
    if not dynamic or not static:
        return Target(text, "-", None)
    early = late = 0
    for turn in dynamic:
        joined = turn.event("join")
        after = [joined is not None and move.time_s >= joined.time_s for move in turn.moves]
        early, late = early + after.count(False), late + after.count(True)
    frozen = sum(len(turn.moves) for turn in static)
    measured = f"Dynamic {early} before, {late} after in {len(dynamic)} runs; Static {frozen}"
    reached = early == 0 and frozen == 0 and all(turn.moves for turn in dynamic)
    return Target(text, measured, reached)


def _lost(turns: Sequence[TurnData]) -> Target:
    lost = sum(each.tuples.lost for each in turns)
    wanted = sum(each.done.tuples for each in turns)
    again = sum(each.tuples.replayed for each in turns)
    text = "no tuple lost beyond what acking sends again"
    return Target(text, f"{lost} of {wanted} lost, {again} sent again", lost == 0)


def _predicted(turns: Sequence[TurnData]) -> Target:
    """Compare what was predicted, and what the daemon measured, with what users see."""
    text = f"time without a result by Dynamic's moves predicted within {LARGEST_PAUSE_ERROR:.0%}"
    found = [each for turn in turns for each in pauses(turn)]
    errors = [each.error for each in found if each.error is not None]
    if not errors:
        return Target(text, f"{len(found)} moves, of none it was predicted", None)
    within = sum(abs(each) <= LARGEST_PAUSE_ERROR for each in errors)
    measured = f"{within} of {len(found)} within; errors {_list(errors)}"
    by_daemon = [each.measured_error for each in found if each.measured_error is not None]
    if by_daemon:
        measured += f" (of what the daemon measured {_list(by_daemon)})"
    return Target(text, measured, within == len(found))


def _list(errors: Sequence[float]) -> str:
    return ", ".join(f"{each:+.0%}" for each in errors)


def _drain(turns: Sequence[TurnData]) -> tuple[Target, ...]:
    empty = f"a site in use is empty within {EMPTY_WITHIN_S / 60:.0f} minutes"
    planned = f"response time while it is drained at most {AS_PLANNED} times the model's"
    back = "return within the budget of restarts in a round"
    if not turns:
        return tuple(Target(text, "-", None) for text in (empty, planned, back))
    (turn,) = turns
    drain, undrain = turn.event("drain"), turn.event("undrain")
    if drain is None or undrain is None:
        return tuple(Target(text, "not drained", False) for text in (empty, planned, back))
    took = f"{drain.took_s:.0f} s" if drain.failure is None else drain.failure
    drained_s = turn.tuples.median_s(turn.tuples.response_s, undrain.time_s - END_S, undrain.time_s)
    model_s = turn.model_s(turn.stay_at(undrain.time_s).hosts)
    returned = [move for move in turn.moves if move.time_s >= undrain.time_s]
    restarts = [
        each.executors_restarted or 0 for each in turn.rounds if each.assigned and each.time_s >= drain.time_s
    ]
    most = turn.done.restarts_per_round
    in_words = (
        f"{(returned[0].time_s - undrain.time_s):.0f} s after it was given back, at most "
        f"{max(restarts, default=0)} of {most} executors restarted in a round"
        if returned
        else "it did not return"
    )
    return (
        Target(empty, took, drain.failure is None and drain.took_s <= EMPTY_WITHIN_S),
        Target(
            planned,
            "-" if drained_s is None else f"{drained_s:.2f} s, model {model_s:.2f} s",
            None if drained_s is None else drained_s <= AS_PLANNED * model_s,
        ),
        Target(back, in_words, bool(returned) and max(restarts, default=0) <= most),
    )
