"""Hosts that are to be emptied: what runs there leaves, worker after worker, beside all that is missing.

First the round is planned as if nothing had to leave. If it places or moves nothing, executors leave: they
are planned like lost ones, whatever the size of the cluster, while all others stand still. So many leave as
may restart in one round. What finds no room without a restart of others runs on where it is; where several
workers of a topology find none together, a single one is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bridge.round.carrying_out import carried_out
from bridge.round.drains.drained_hosts import close, shut
from bridge.round.drains.leaving import affected, choose, without
from bridge.round.last_slots import carried_over, priced, with_last_slots
from bridge.round.standing import still
from bridge.wire.messages import UNASSIGNED, Decision
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.round.drains.drained_hosts import Closed
    from bridge.round.memory import TopologyMemory
    from bridge.round.round_report import Course, Round
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, TopologyPlan

    Plan = Callable[[PlanRequest, Settings, Course], Round]

_ANY_NUMBER = 1_000_000


@dataclass
class _Departure:
    """What leaves in a round, and what does not.

    Attributes:
        plans: Plans of topologies of which something leaves, by id, priced.
        memories: What their next round has to know.
        leaves: Number of executors that leave, by id.
        stays: Number of executors that do not, and why, by id.
        waits: Whether the next round may bring more though nothing else changes.
        trials: The rounds in which that was planned.
    """

    plans: dict[str, TopologyPlan] = field(default_factory=dict)
    memories: dict[str, TopologyMemory] = field(default_factory=dict)
    leaves: dict[str, int] = field(default_factory=dict)
    stays: dict[str, tuple[int, str]] = field(default_factory=dict)
    waits: bool = False
    trials: list[Round] = field(default_factory=list)


def with_drains(request: PlanRequest, settings: Settings, plan: Plan, course: Course) -> Round:
    """Plan a round, and empty the hosts that are to be emptied.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
        plan: Plans a round without drains.
        course: Time of the round.
    """
    closed = close(request, settings)
    if closed is None:
        return plan(request, settings, course)
    there = affected(closed)
    lacking = {each.id for each in request.topologies if UNASSIGNED in each.executor_supervisor}
    # What has to leave must not wait for ever behind searches for gains; what is missing comes before both.
    first = course.half() if there and not lacking else course
    done = _without_leaving(request, closed, settings, plan, first)
    if any(each.decision is Decision.ASSIGN for each in done.response.plans):
        return _joined(done, _none_leaves(closed, done, "as other changes come first"))
    if lacking - {each.topology_id for each in done.response.plans} - done.known.unread.keys():
        return _joined(done, _none_leaves(closed, done, "as missing executors were not planned in time"))
    return _joined(done, _departure(closed, there, settings, plan, course))


def _without_leaving(
    request: PlanRequest, closed: Closed, settings: Settings, plan: Plan, course: Course
) -> Round:
    """Plan the round as if nothing had to leave; what fits nowhere else goes back to where it ran."""
    done = plan(closed.request, settings, course)
    stuck = _unplaced(done)
    back = {
        each.id
        for each in request.topologies
        if each.id in stuck and not closed.drained.isdisjoint(each.last_supervisor or ())
    }
    if not back or course.expired():
        return done
    restored = with_last_slots(request, frozenset(each.id for each in request.topologies) - back)
    again = plan(replace(restored, supervisors=closed.request.supervisors), settings, course)
    if again.served <= done.served:
        return done
    return replace(again, response=carried_over(request, restored, again.response))


def _unplaced(done: Round) -> set[str]:
    return {each.topology_id for each in done.response.plans if each.decision is Decision.UNPLACEABLE}


def _none_leaves(closed: Closed, done: Round, why: str) -> _Departure:
    """Count what is on hosts that are to be emptied after a round in which nothing leaves them."""
    after = replace(closed, request=carried_out(closed.request, done.response.plans))
    stays = {
        after.request.topologies[index].id: (_number_there(after, index), why) for index in affected(after)
    }
    return _Departure(stays=stays, waits=bool(stays))


def _departure(
    closed: Closed, there: Sequence[int], settings: Settings, plan: Plan, course: Course
) -> _Departure:
    """Let executors leave; a topology that finds no room for all of them tries it with one worker."""
    departure = _Departure()
    names = [each.id for each in closed.request.topologies]
    among = list(there)
    for workers in (_ANY_NUMBER, 1):
        if among and course.expired():
            late = {names[index]: (_number_there(closed, index), "as there was no time") for index in among}
            departure.stays = late | departure.stays
            departure.waits = True
            break
        now = replace(closed, request=carried_out(closed.request, departure.plans.values()))
        left = settings.move.max_restarts_per_round - sum(departure.leaves.values())
        # What is tried again was within the budgets of sites and workers beside what has left.
        asked = choose(now, among, settings.plan, left, budgets=course.budgets, workers=workers)
        departure.waits |= asked.waits
        departure.stays.update({names[index]: stay for index, stay in asked.staying.items()})
        if not asked.executors:
            break
        topologies = without(now.request, asked).topologies
        lone = tuple(
            each if index in asked.executors else still(each) for index, each in enumerate(topologies)
        )
        question = shut(replace(now.request, topologies=lone), closed.drained | closed.doubtful)
        trial = plan(question, _alone(settings), course)
        departure.trials.append(trial)
        plans = {each.topology_id: each for each in priced(now.request, trial.response).plans}
        among = []
        for index, executors in asked.executors.items():
            found = plans.get(names[index])
            reason = _why_not(found, len(executors), dict(trial.left_out).get(names[index]))
            if reason or found is None:
                among.append(index)
                departure.stays[names[index]] = _number_there(closed, index), reason
                continue
            departure.plans[names[index]] = found
            departure.leaves[names[index]] = len(executors)
            if index not in asked.staying:
                departure.stays.pop(names[index], None)
            departure.memories.update(
                {each.id: each for each in trial.memory.topologies if each.id == names[index]}
            )
    return departure


def _alone(settings: Settings) -> Settings:
    """Return settings under which nothing else happens: what leaves could run on where it is."""
    move = settings.move.model_copy(update={"max_restarts_per_round": 0})
    plan = settings.plan.model_copy(update={"evict": False})
    return settings.model_copy(update={"move": move, "plan": plan})


def _why_not(plan: TopologyPlan | None, leaving: int, left_out: str | None) -> str:
    """Say why executors do not leave after all; empty if they do."""
    if plan is None:
        return f"as they were not planned ({left_out or 'no time left in this round'})"
    if plan.decision is not Decision.ASSIGN or plan.price is None:
        reason = plan.status.removeprefix("not placed: ").split("; ")[0]
        return f"as they find no room elsewhere ({reason})"
    others = (plan.price.executors_restarted or 0) - leaving
    return f"as {counted(others, 'executor')} elsewhere would restart for them" if others > 0 else ""


def _number_there(closed: Closed, index: int) -> int:
    return sum(each in closed.drained for each in closed.request.topologies[index].executor_supervisor)


def _joined(done: Round, departure: _Departure) -> Round:
    """Return one round: what leaves has its plan from its own planning, all others as they were planned."""
    plans = {plan.topology_id: plan for plan in done.response.plans} | departure.plans
    noted = tuple(_noted(plan, departure) for plan in plans.values())
    prices = [plan.price for plan in departure.plans.values() if plan.price is not None]
    memories = {each.id: each for each in done.memory.topologies} | departure.memories
    entries = tuple(memories[name] for name in sorted(memories))
    final = not (departure.plans or departure.waits)
    return replace(
        done,
        response=replace(done.response, plans=noted, hold_ms=done.response.hold_ms if final else None),
        memory=replace(done.memory, topologies=entries),
        traces=tuple(
            dict.fromkeys((*done.traces, *(each for one in departure.trials for each in one.traces)))
        ),
        moves=done.moves + sum(price.executors_moved for price in prices),
        restarts=done.restarts + sum(price.executors_restarted or 0 for price in prices),
        timed_out=done.timed_out or any(each.timed_out for each in departure.trials),
        on_drained_hosts=sum(number for number, _ in departure.stays.values()),
    )


def _noted(plan: TopologyPlan, departure: _Departure) -> TopologyPlan:
    """Say what of a topology leaves, and why the rest does not."""
    parts = [plan.status]
    if plan.topology_id in departure.stays:
        number, why = departure.stays[plan.topology_id]
        stay = counted(number, "executor stays", "executors stay")
        parts.insert(0, f"{stay} on drained hosts, {why}")
    if plan.topology_id in departure.leaves:
        leave = counted(departure.leaves[plan.topology_id], "executor leaves", "executors leave")
        parts.insert(0, f"{leave} drained hosts")
    return replace(plan, status="; ".join(parts))
