"""What a round had no time for is planned on after its answer, for the next round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.problem.cpu_demand import with_cpu
from bridge.round.carrying_out import carried_out
from bridge.round.drains.drained_hosts import close
from bridge.round.large import plan_large_round
from bridge.round.memory import NOTHING, Prepared
from bridge.round.round_data import gather_data
from bridge.round.round_report import Course
from bridge.round.scale import is_large
from bridge.round.unread import with_stand_ins
from bridge.wire.messages import UNASSIGNED, Decision
from scheduler.contract.children import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, PlanResponse

LONGEST_S = 5.0
"""Time for what a round left over: half of what Nimbus leaves between two rounds by default."""


def prepare(
    request: PlanRequest, response: PlanResponse, settings: Settings, clock: Callable[[], float]
) -> tuple[Prepared, ...]:
    """Plan what a round left without a plan, as if its answer were carried out.

    Args:
        request: The round.
        response: Its answer.
        settings: The daemon's settings.
        clock: Monotonic seconds; infinity ends planning at once.
    """
    following = carried_out(request, response.plans)
    topologies = following.topologies
    closed = close(following, settings)
    following = following if closed is None else closed.request
    data = gather_data(following, settings)
    following = with_stand_ins(with_cpu(following, data.cpu), data.unread)
    if not is_large(following, data, settings):
        # The next round has time enough for it.
        return ()
    course = Course(clock, clock() + LONGEST_S, 0.0, INLINE)
    # What fits only above what is declared is for the round itself, whose status line has to say it.
    done = plan_large_round(following, settings.within_limits(), data, NOTHING, course)
    lacking = {each.id for each in topologies if UNASSIGNED in each.executor_supervisor}
    return tuple(
        Prepared(
            plan.topology_id,
            tuple(request.supervisors[index].id for index in plan.executor_supervisor),
            plan.executor_port,
        )
        for plan in done.response.plans
        if plan.decision is Decision.ASSIGN and plan.topology_id in lacking
    )
