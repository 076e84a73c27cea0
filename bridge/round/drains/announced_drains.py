"""Hosts that are to be emptied later: the status says who runs there, and no plan is held for too long.

What such a drain does to plans is in what topologies ask for (`Wishes.leaving`): these hosts are used like
unfavored ones from `move.horizon_s` before on. When it begins it is a drain like any other (`draining`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.round.carrying_out import carried_out
from formats.counted import counted

if TYPE_CHECKING:
    from bridge.round.round_report import Round
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest


def with_announcements(request: PlanRequest, done: Round, settings: Settings) -> Round:
    """Return the round with the number of executors that run where a drain is announced in each status.

    Args:
        request: The round as the shim sees it.
        done: What came out of it.
        settings: The daemon's settings.
    """
    announced_s = done.known.announced_s
    if not announced_s:
        return done
    those = {index for index, each in enumerate(request.supervisors) if each.host in announced_s}
    counts = {
        each.id: sum(supervisor in those for supervisor in each.executor_supervisor)
        for each in carried_out(request, done.response.plans).topologies
    }
    plans = tuple(
        replace(
            plan,
            status=f"{counted(count, 'executor runs', 'executors run')} on hosts that are to be drained; "
            f"{plan.status}",
        )
        if (count := counts.get(plan.topology_id, 0))
        else plan
        for plan in done.response.plans
    )
    # the shim asks again when the next one begins to count, or begins
    next_s = min(
        left_s - settings.move.horizon_s if left_s > settings.move.horizon_s else left_s
        for left_s in announced_s.values()
    )
    hold_ms = done.response.hold_ms
    if hold_ms is not None:
        hold_ms = min(hold_ms, max(int(next_s * 1000.0), 1))
    return replace(done, response=replace(done.response, plans=plans, hold_ms=hold_ms))
