"""A round: from request to response, a function of the request, the settings, the memory and the time.

A clock says when searches must end; it decides nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bridge.packing.fresh_ports import with_fresh_ports
from bridge.problem.cpu_demand import with_cpu
from bridge.round.beside import look_beside
from bridge.round.drains.announced_drains import with_announcements
from bridge.round.drains.draining import with_drains
from bridge.round.eviction import with_evictions
from bridge.round.large import plan_large_round
from bridge.round.last_slots import carried_over, priced, stuck, with_last_slots
from bridge.round.memory import NOTHING
from bridge.round.price.measuring import with_measurements
from bridge.round.price.price_list import with_price_lists
from bridge.round.remembered_bandwidths import recalled, remember
from bridge.round.restart_budgets import Hour
from bridge.round.round_data import gather_data
from bridge.round.round_report import Course, Round
from bridge.round.scale import is_large
from bridge.round.small.small_round import plan_small_round
from bridge.round.unread import name_unread, with_stand_ins
from scheduler.contract.children import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.round.memory import Memory
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest
    from scheduler.contract.children import Children


_ANSWER_MS = 0.05
"""What the way back of one topology's plan may take: 10,000 of them are more than a megabyte."""


def plan_round(
    request: PlanRequest,
    settings: Settings,
    clock: Callable[[], float],
    began_s: float | None = None,
    children: Children = INLINE,
    *,
    memory: Memory = NOTHING,
    now_s: float = 0.0,
    unix_s: float | None = None,
) -> Round:
    """Plan one round.

    The same request, settings, memory and time give the same response as long as the time does not run out.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
        clock: Monotonic seconds; decides nothing but when searches end.
        began_s: When the request arrived, on that clock; None means now.
        children: Runs what strategies leave to others, such as solvers.
        memory: What the round before handed on.
        now_s: Time of the round in seconds, on one clock for all rounds; says how long gains have been seen
            and how long topologies have cooled down.
        unix_s: Time of the round in seconds since 1970; says which freeze windows hold, and how long earlier
            plans took. None: no windows hold, and nothing is measured.
    """
    now = clock()
    # Reading a very large request takes time of its own, which must not be taken from planning it.
    way_back_ms = settings.plan.deadline_margin_ms + _ANSWER_MS * len(request.topologies)
    left_s = max(request.deadline_ms - way_back_ms, 0) / 1000.0
    answer_s = (now if began_s is None else began_s) + left_s
    end_s = min(answer_s, now + settings.plan.time_limit_ms / 1000.0)
    hour = Hour(settings.move, memory, now_s)
    course = Course(clock, end_s, now_s, children, unix_s, hour.budgets)
    settings = settings.model_copy(update={"move": hour.move})
    planned = with_drains(request, settings, partial(_round, memory), course)
    done = hour.charged(request, with_announcements(request, planned, settings))
    # Searches may take all of their time; what they found is priced as long as the shim waits.
    pricing = replace(course, end_s=answer_s)
    ways = remember(memory, done.known.measured_ways, now_s)
    done = replace(done, memory=replace(done.memory, ways=ways))
    priced = with_price_lists(request, done, settings, memory, pricing)
    if settings.move.fresh_ports:
        # prices are of hosts and of who shares a worker, and the same on every port
        priced = replace(priced, response=with_fresh_ports(request, priced.response))
    return with_measurements(request, priced, memory, unix_s)


def _round(memory: Memory, request: PlanRequest, settings: Settings, course: Course) -> Round:
    restored = with_last_slots(request)
    done = _plan(restored, settings, memory, course)
    unplaced = stuck(request, restored, done.response)
    if unplaced and not done.unfinished and not course.expired():
        # What does not fit around its last slots may fit without; a topology that stands still is worse.
        partly = with_last_slots(request, unplaced)
        again = _plan(partly, settings, memory, course)
        if again.served > done.served:
            return _without(again, request, partly, restored)
    done = look_beside(restored, done, settings, memory, course)
    if restored is request:
        return done
    response = carried_over(request, restored, done.response)
    # There was no time to try those that are stuck anywhere else.
    return replace(done, response=replace(response, hold_ms=None) if unplaced else response)


def _without(done: Round, request: PlanRequest, partly: PlanRequest, restored: PlanRequest) -> Round:
    """Return a round in which some topologies did not get their last slots back, priced against these."""
    response = priced(restored, carried_over(request, partly, done.response))
    prices = [plan.price for plan in response.plans if plan.price is not None]
    return replace(
        done,
        response=response,
        moves=sum(price.executors_moved for price in prices),
        restarts=sum(price.executors_restarted or 0 for price in prices),
    )


def _plan(request: PlanRequest, settings: Settings, memory: Memory, course: Course) -> Round:
    plan = partial(_plan_once, settings=settings, memory=memory, course=course)
    return with_evictions(request, plan(request), settings.plan, plan, course.expired)


def _plan_once(request: PlanRequest, settings: Settings, memory: Memory, course: Course) -> Round:
    data = gather_data(request, settings, recalled(memory, course.now_s))
    readable = with_stand_ins(with_cpu(request, data.cpu), data.unread)
    plan = plan_large_round if is_large(readable, data, settings) else plan_small_round
    return name_unread(plan(readable, settings, data, memory, course), request, data.unread)
