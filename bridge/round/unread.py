"""A topology that cannot be read costs only itself.

What topologies ask for is read of all of them before any is planned. Where that fails for one, something
takes its place that holds the slots of what runs and asks for nothing, as for one that the request describes
wrongly.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of
from bridge.problem.permits import permits_of
from bridge.round.standing import standing
from bridge.wire.messages import UNASSIGNED, Decision, TopologyPlan
from bridge.wishes.storm_settings import StormSettings
from bridge.wishes.topology_settings import TopologySettings
from bridge.wishes.wishes import Wishes, wishes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bridge.round.round_report import Round
    from bridge.settings import PlanSettings
    from bridge.wire.messages import PlanRequest, Topology

_NO_STRATEGY = "none"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something of one topology could not be done.

    Attributes:
        reason: A phrase for its status and the log.
        trace: The traceback.
    """

    reason: str
    trace: str


def failure(error: Exception) -> Failure:
    """Describe an exception; called where it is handled."""
    return Failure(f"planning failed ({type(error).__name__}: {error})", traceback.format_exc())


def read_wishes(
    topologies: Iterable[Topology], settings: PlanSettings
) -> tuple[tuple[Wishes, ...], dict[str, Failure]]:
    """Read what topologies ask for; whatever goes wrong stays with one of them.

    Args:
        topologies: The topologies.
        settings: How plans are made.

    Returns:
        What each asks for, and why by the id of those that cannot be read: these ask to be left alone.
    """
    wishes: list[Wishes] = []
    unread: dict[str, Failure] = {}
    # Where topologies are many, most of them ask for the same.
    known: dict[tuple[object, ...], Wishes] = {}
    for topology in topologies:
        asked = topology.settings_json, topology.storm_json, topology.component_names
        if asked in known:
            wishes.append(known[asked])
            continue
        try:
            each = wishes_of(topology, settings)
            if each.own.names_places:
                # What goes wrong with them on hosts does so without any, before others wait for it.
                permits_of(topology, each.own, ())
            known[asked] = each
        except Exception as error:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            unread[topology.id] = failure(error)
            own = TopologySettings().model_copy(update={"frozen": True, "strategy": settings.strategy})
            each = Wishes(own, StormSettings())
        wishes.append(each)
    return tuple(wishes), unread


def with_stand_ins(request: PlanRequest, unread: Mapping[str, Failure]) -> PlanRequest:
    """Return the request with something in the place of topologies that cannot be read.

    Args:
        request: The round.
        unread: Why, by id of these.
    """
    if not unread:
        return request
    topologies = tuple(
        replace(standing(each, assignment_of(each)), storm_json=None) if each.id in unread else each
        for each in request.topologies
    )
    return replace(request, topologies=topologies)


def name_unread(done: Round, request: PlanRequest, unread: Mapping[str, Failure]) -> Round:
    """Return the round with the reasons of topologies that could not be read in the place of their plans.

    One that runs completely is kept, one with missing executors is left to Storm's own scheduler.

    Args:
        done: What came out of the round with something in their place.
        request: The round.
        unread: Why they could not be read, by id.
    """
    if not unread:
        return done
    lacking = [
        each.id for each in request.topologies if each.id in unread and UNASSIGNED in each.executor_supervisor
    ]
    plans = tuple(
        kept(plan.topology_id, unread[plan.topology_id].reason) if plan.topology_id in unread else plan
        for plan in done.response.plans
        if plan.topology_id not in lacking
    )
    hold_ms = None if lacking else done.response.hold_ms
    return replace(
        done,
        response=replace(done.response, plans=plans, hold_ms=hold_ms),
        traces=(*((each, found.trace) for each, found in unread.items()), *done.traces),
        left_out=(*((each, unread[each].reason) for each in lacking), *done.left_out),
    )


def kept(topology_id: str, reason: str) -> TopologyPlan:
    """Return what is said of a topology that runs completely, and of which no more is known."""
    status = " ".join(f"kept: {reason}".split())
    return TopologyPlan(topology_id, Decision.KEEP, (), (), status, _NO_STRATEGY)
