"""Which of the experiment's goals its turns have reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.lab_elasticity.variants import SIZED
from experiments.reports.targets import Target
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.lab_elasticity.report.turns import ElasticityTurn

MOST_LATE = 0.05
MOST_HOST_TIME = 0.7
"""Of the time of the hosts that the peak needs."""
PAUSE_ERROR = 0.3
_LACKING = "not run"


def targets(turns: Sequence[ElasticityTurn]) -> tuple[Target, ...]:
    """Judge all goals, also those of policies that were not run."""
    judges = (_lost, _answers, _late, _hosts, _pauses, _kept, _kills)
    return tuple(judge(turns) for judge in judges)


def _lost(turns: Sequence[ElasticityTurn]) -> Target:
    lost = {turn.done.label: turn.outcome.lost for turn in turns if turn.outcome.lost}
    items = sum(turn.outcome.items for turn in turns)
    measured = ", ".join(f"{count} in {label}" for label, count in lost.items()) or f"0 of {items}"
    return Target("no item is lost", measured, not lost)


def _answers(turns: Sequence[ElasticityTurn]) -> Target:
    text = "no answer is wrong"
    verdicts = {turn.done.label: turn.verdict for turn in turns if turn.verdict is not None}
    answered = {label: each for label, each in verdicts.items() if each.answers}
    if not answered:
        return Target(text, "no answers", None)
    bad = [f"{label}: {each.wrong}" for label, each in answered.items() if each.wrong is not None]
    return Target(text, "; ".join(bad) or f"in {counted(len(answered), 'turn')}", not bad)


def _late(turns: Sequence[ElasticityTurn]) -> Target:
    own = [turn for turn in turns if turn.done.policy == SIZED]
    text = f"{SIZED}: less than {MOST_LATE:.0%} of items are late"
    if not own:
        return Target(text, _LACKING, None)
    worst = max(own, key=lambda turn: turn.outcome.late)
    measured = f"{worst.outcome.late:.2%} take longer than {worst.done.bound_s:g} s"
    return Target(text, measured, worst.outcome.late < MOST_LATE)


def _hosts(turns: Sequence[ElasticityTurn]) -> Target:
    own = [turn for turn in turns if turn.done.policy == SIZED]
    text = f"{SIZED}: at most {MOST_HOST_TIME:.0%} of the host time that the peak needs"
    if not own:
        return Target(text, _LACKING, None)
    worst = max(own, key=lambda turn: turn.outcome.host_share)
    found = worst.outcome
    measured = f"{found.host_share:.0%}: {found.host_s:.0f} of {found.static_host_s:.0f} host seconds"
    return Target(text, measured, found.host_share <= MOST_HOST_TIME)


def _pauses(turns: Sequence[ElasticityTurn]) -> Target:
    text = f"each pause is as long as was expected, within {PAUSE_ERROR:.0%}"
    errors = [each.error for turn in turns for each in turn.outcome.changes if each.error is not None]
    if not errors:
        return Target(text, "no changes", None)
    within = sum(abs(each) <= PAUSE_ERROR for each in errors)
    return Target(text, f"{within} of {len(errors)}", within == len(errors))


def _kept(turns: Sequence[ElasticityTurn]) -> Target:
    bad = [
        f"{turn.done.label}: {', '.join((*turn.done.leaked, *turn.done.missing_tasks))}"
        for turn in turns
        if turn.done.leaked or turn.done.missing_tasks
    ]
    return Target(
        "no host is leaked, no executor lost", "; ".join(bad) or f"in {counted(len(turns), 'turn')}", not bad
    )


def _kills(turns: Sequence[ElasticityTurn]) -> Target:
    text = "the loop goes on after each kill, and no item is lost"
    own = [turn for turn in turns if turn.done.kills_s]
    if not own:
        return Target(text, "no kills", None)
    bad = [
        turn.done.label for turn in own if turn.outcome.lost or turn.done.leaked or turn.done.missing_tasks
    ]
    count = sum(len(turn.done.kills_s) for turn in own)
    return Target(text, ", ".join(bad) or f"{counted(count, 'kill')} in {counted(len(own), 'turn')}", not bad)
