"""What runs is looked at beside what finds no room.

A topology that finds no room lacks its executors in every round. If these make each round a large one, which
only places what is missing, no broken pin of another topology would ever be mended and no gain looked for. So
where a large round placed nothing, topologies that run are planned executor by executor in the time that is
left. The others stand aside: what of them runs takes its room, and what is missing asks for none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.cpu_demand import with_cpu
from bridge.round.scale import is_large, is_large_beside
from bridge.round.small.small_round import plan_small_round
from bridge.wire.messages import UNASSIGNED, Decision

if TYPE_CHECKING:
    from bridge.round.memory import Memory
    from bridge.round.round_report import Course, Round
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest


def look_beside(
    request: PlanRequest, done: Round, settings: Settings, memory: Memory, course: Course
) -> Round:
    """Return the round with plans for what runs, if it was a large one that placed nothing.

    Args:
        request: The round as it was planned.
        done: What came out of it.
        settings: The daemon's settings.
        memory: What the round before handed on.
        course: Time of the round.
    """
    aside = frozenset(
        index
        for index, topology in enumerate(request.topologies)
        if UNASSIGNED in topology.executor_supervisor or topology.id in done.known.unread
    )
    placed = any(plan.decision is Decision.ASSIGN for plan in done.response.plans)
    if not aside or placed or done.unfinished or not is_large(request, done.known, settings):
        return done
    if len(aside) == len(request.topologies) or is_large_beside(request, aside, done.known, settings):
        return done
    if course.expired():
        # A repetition that has the time looks at them.
        return replace(done, timed_out=True)
    measured = with_cpu(request, done.known.cpu)
    looked = plan_small_round(measured, settings, done.known, memory, course, aside=aside)
    return _joined(done, looked, frozenset(request.topologies[index].id for index in aside))


def _joined(done: Round, looked: Round, aside: frozenset[str]) -> Round:
    """Return one round of two: what stands aside has what came out of the first."""
    plans = {plan.topology_id: plan for plan in looked.response.plans}
    # More time, or a mended fault, may find room where nothing of the cluster changes.
    final = not (done.timed_out or done.left_out)
    return replace(
        looked,
        response=replace(
            done.response,
            plans=tuple(plans.get(plan.topology_id, plan) for plan in done.response.plans),
            hold_ms=looked.response.hold_ms if final else None,
        ),
        memory=replace(
            looked.memory,
            topologies=tuple(each for each in looked.memory.topologies if each.id not in aside),
        ),
        setting_faults=tuple({**dict(done.setting_faults), **dict(looked.setting_faults)}.items()),
        traces=tuple(dict.fromkeys((*done.traces, *looked.traces))),
        left_out=tuple({**dict(looked.left_out), **dict(done.left_out)}.items()),
        timed_out=done.timed_out or looked.timed_out,
    )
