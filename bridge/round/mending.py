"""Executors that run where a pin or avoidance forbids it are moved in large rounds, topology by topology."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING

from bridge.round.close_up import CloseUps
from bridge.wire.messages import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bridge.network.site_links import SiteLinks
    from bridge.packing.check import PlanCheck
    from bridge.packing.jobs import Order
    from bridge.problem.cpu_demand import CpuDemand
    from bridge.problem.links.bandwidth_book import Elsewhere
    from bridge.round.large_plans import LargePlans
    from bridge.round.round_report import Course
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest

_WAITS = "kept (pin not met): waits for a round with time for it"
_ONE_A_ROUND = "kept (pin not met): waits, as one topology is moved in a round"


def mend_pins(
    request: PlanRequest,
    settings: Settings,
    cpu: Mapping[str, CpuDemand],
    broken: Iterable[int],
    order_of: Callable[[int], Order],
    *,
    plans: LargePlans,
    check: Callable[[], PlanCheck],
    course: Course,
    links: SiteLinks,
    sent_beside: Callable[[int], Elsewhere | None],
) -> bool:
    """Move executors of one topology to where they may run; the others say what they wait for.

    Args:
        request: The round.
        settings: The daemon's settings.
        cpu: CPU that executors need, by topology id.
        broken: Topologies that run where they may not, by position.
        order_of: Describes a topology.
        plans: Takes the plans.
        check: Returns what knows what the plans so far leave, and takes what these use.
        course: Time for it.
        links: The ways between sites.
        sent_beside: What other topologies than one send, None if no bandwidth is limited.

    Returns:
        Whether there was time to look at all of them.
    """
    moved = late = False
    waiting = [
        index
        for index in broken
        if index not in plans.plans and request.topologies[index].id not in plans.left_out
    ]
    # Another one is first in each round: those without room must not always take the time of the others.
    first = zlib.crc32(request.round_id.encode()) % max(len(waiting), 1)
    for index in (*waiting[first:], *waiting[:first]):
        late = late or (not moved and course.expired())
        if moved or late:
            plans.keep(index, _ONE_A_ROUND if moved else _WAITS)
            continue
        close = CloseUps(request, settings, cpu, check(), course, links=links, sent_beside=sent_beside)
        order = plans.tried(index, partial(order_of, index))
        plan = None
        if order is not None:
            plan = plans.tried(index, partial(close.plan, index, order=order, moving=True))
        plans.traces.extend(close.traces)
        if plan is None:
            plans.keep(index, "kept (pin not met): no room on the hosts that were looked at")
        else:
            plans.take(index, plan)
            moved = plan.decision is Decision.ASSIGN
    return not late
