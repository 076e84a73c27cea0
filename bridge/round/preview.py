"""What a plan would do to one topology, and what it would cost: a round in thought, which changes nothing.

A round is planned on the cluster's last state with what was asked for changed in it: it says what would
happen. If that is nothing for this topology, another one says what there is to be had: in it no gain is too
small, none waits, and all other topologies stand still.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bridge.problem.assignment import assignment_of
from bridge.round.planner import plan_round
from bridge.round.price.worth import Worths
from bridge.round.round_data import gather_data
from bridge.round.standing import still
from bridge.wire.messages import Decision, Drain
from bridge.wishes.topology_settings import PREFIX
from formats.drain import content_of, split
from scheduler.model.metrics.catalogue import METRICS
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.migration import MIGRATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.problem.assignment import Assignment
    from bridge.round.memory import Memory
    from bridge.round.price.worth import Worth
    from bridge.round.round_data import RoundData
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan
    from scheduler.contract.children import Children

_ALL_RESTARTS = 1_000_000
_RATES = f"{PREFIX}rates"
_UNITS = {COST.answer: "units/s", MIGRATION.answer: "units"}
"""Instance files leave the time that a cost is for open; what hosts of a cluster state is per second."""


class PreviewError(ValueError):
    """What is asked for cannot be looked at; one sentence."""


@dataclass(frozen=True)
class Change:
    """What is taken for different from what it is.

    Attributes:
        settings: Keys and values that take the place of the topology's own, all below `topology.stormplace.`.
        drains: Places `host:NAME` or `site:NAME` that are to be emptied, beside those that are.
    """

    settings: Mapping[str, object]
    drains: tuple[str, ...]


def preview(
    request: PlanRequest,
    name: str,
    change: Change,
    settings: Settings,
    clock: Callable[[], float],
    *,
    memory: Memory,
    now_s: float,
    unix_s: float | None = None,
    children: Children,
) -> dict[str, Any]:
    """Look at what a round would do to a topology.

    Args:
        request: The cluster's last round, with the ages of its readings as they are now.
        name: Name or id of the topology.
        change: What is taken for different.
        settings: The daemon's settings.
        clock: Monotonic seconds.
        memory: What the last round handed on.
        now_s: Time of the round in thought, as of rounds.
        unix_s: The same in seconds since 1970, None if that is not known.
        children: Runs what strategies leave to others.

    Returns:
        What `stormplace plan --json` prints; see docs/replacement.md.

    Raises:
        PreviewError: There is no such topology, or a change is none.
    """
    index = _index(request, name)
    changed = _changed(request, index, change)
    data = gather_data(changed, settings)
    _check_places(change.drains, data.hosts.hosts)
    _check_keys(change.settings, index, changed.topologies[index].id, data)
    next_round = plan_round(
        changed, settings, clock, children=children, memory=memory, now_s=now_s, unix_s=unix_s
    )
    topology = changed.topologies[index]
    candidate = planned = _plan_of(next_round.response.plans, topology.id)
    if planned is None or planned.decision is not Decision.ASSIGN:
        alone, lenient = _others_stand(changed, index), _any_gain(settings)
        possible = plan_round(
            alone, lenient, clock, children=children, memory=memory.starts_only, now_s=now_s
        )
        candidate = _plan_of(possible.response.plans, topology.id)
    left_out = dict(next_round.left_out).get(topology.id)
    before, after = assignment_of(topology), _after(topology, candidate)
    worths = Worths(changed, data, settings, clock)
    return {
        "topology": topology.id,
        "name": topology.name,
        "next_round": {
            "decision": "none" if planned is None else planned.decision.name.lower(),
            "status": left_out or "" if planned is None else planned.status,
            "moves": _moves(changed, topology, before, _after(topology, planned)),
            "price": _price(planned),
        },
        "candidate": {
            "status": "" if candidate is None else candidate.status,
            "moves": _moves(changed, topology, before, after),
            "price": _price(candidate),
        },
        "metrics": _metrics(worths.between(index, before, after)),
        "thresholds": {
            "min_gain": settings.move.min_gain,
            "min_gain_ms": settings.move.min_gain_ms,
            "max_restarts_per_round": settings.move.max_restarts_per_round,
        },
    }


def _index(request: PlanRequest, name: str) -> int:
    found = [index for index, each in enumerate(request.topologies) if name in (each.id, each.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise PreviewError(f"several topologies have the name {name}: ask for one by its id")
    names = sorted(each.name for each in request.topologies)
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    raise PreviewError(f"the cluster has no topology {name}; it has {shown or 'none'}")


def _changed(request: PlanRequest, index: int, change: Change) -> PlanRequest:
    topology = request.topologies[index]
    settings = _merged(topology.settings_json, change.settings)
    for place in change.drains:
        try:
            split(place)
        except ValueError as error:
            raise PreviewError(f"drain {error}") from error
    topologies = list(request.topologies)
    topologies[index] = replace(topology, settings_json=settings)
    drains = (*request.drains, *(Drain(place, content_of(None), 0) for place in change.drains))
    return replace(request, topologies=tuple(topologies), drains=drains)


def _check_places(places: Iterable[str], hosts: Sequence[Host]) -> None:
    """Refuse to drain what is not there: the answer would be that nothing has to leave."""
    sites = sorted({host.site for host in hosts if host.site is not None})
    for place in places:
        kind, name = split(place)
        if kind == "host" and name not in {host.name for host in hosts}:
            raise PreviewError(f"drain {place}: the cluster has no such host")
        if kind == "site" and name not in sites:
            known = ", ".join(sites) or "none"
            raise PreviewError(f"drain {place}: no host is known to be there; sites: {known}")


def _check_keys(keys: Iterable[str], index: int, topology: str, data: RoundData) -> None:
    """Refuse what a round would ignore: the answer would be that of other settings than were asked for."""
    faults = list(data.wishes[index].own.faults)
    if topology in data.rates.by_topology:
        faults.append(f"{_RATES}: does not count, as rates are measured")
    for key in keys:
        for fault in faults:
            if fault.startswith(f"{key}: "):
                raise PreviewError(f"what-if: {fault}")


def _merged(settings_json: str, settings: Mapping[str, object]) -> str:
    strange = sorted(key for key in settings if not key.startswith(PREFIX))
    if strange:
        raise PreviewError(f"what-if: {strange[0]} is no key below {PREFIX}")
    if not settings:
        return settings_json
    try:
        own = json.loads(settings_json)
    except ValueError:
        own = {}
    return json.dumps({**(own if isinstance(own, dict) else {}), **settings})


def _others_stand(request: PlanRequest, index: int) -> PlanRequest:
    """Return the request with all others standing still: their moves are no part of this one's candidate."""
    topologies = tuple(
        each if number == index else still(each) for number, each in enumerate(request.topologies)
    )
    return replace(request, topologies=topologies)


def _any_gain(settings: Settings) -> Settings:
    anything = {
        "min_gain": 0.0,
        "min_gain_ms": 0.0,
        "cool_down_s": 0.0,
        "stabilisation_s": 0.0,
        "max_restarts_per_round": _ALL_RESTARTS,
        "max_restarts_per_hour": None,
    }
    return settings.model_copy(update={"move": settings.move.model_copy(update=anything)})


def _plan_of(plans: Sequence[TopologyPlan], topology: str) -> TopologyPlan | None:
    return next((plan for plan in plans if plan.topology_id == topology), None)


def _after(topology: Topology, plan: TopologyPlan | None) -> Assignment:
    if plan is None or plan.decision is not Decision.ASSIGN:
        return assignment_of(topology)
    return tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))


def _moves(
    request: PlanRequest, topology: Topology, before: Assignment, after: Assignment
) -> list[dict[str, object]]:
    tasks = zip(topology.executor_first_task, topology.executor_last_task, strict=True)
    return [
        {
            "component": topology.component_names[component],
            "tasks": list(pair),
            "from": _slot(request, old),
            "to": _slot(request, new),
        }
        for component, pair, old, new in zip(topology.executor_component, tasks, before, after, strict=True)
        if old != new
    ]


def _slot(request: PlanRequest, slot: tuple[int, int] | None) -> dict[str, object] | None:
    return None if slot is None else {"host": request.supervisors[slot[0]].host, "port": slot[1]}


def _price(plan: TopologyPlan | None) -> dict[str, object] | None:
    if plan is None or plan.price is None:
        return None
    price = plan.price
    staying = price.objective_before
    return {
        "gain": price.gain,
        "executors_moved": price.executors_moved,
        "workers_restarted": price.workers_moved,
        "executors_restarted": price.executors_restarted,
        "objective": None if staying is None else {"staying": staying, "candidate": plan.objective},
        "pause_s": price.pause_s,
        "pause_source": price.pause_source,
        "pause_samples": price.pause_samples,
        "replayed_tuples": price.replayed_tuples,
        "pulled_mb": price.pulled_mb,
        "move_cost": price.move_cost,
        "payback_s": None if price.move_cost is None else price.payback_s,
    }


def _metrics(worth: Worth) -> dict[str, object]:
    """Return each metric of staying and of the candidate, None of a placement that is not whole."""
    return {
        metric.answer: {
            "staying": staying,
            "candidate": after,
            "unit": _UNITS.get(metric.answer, metric.unit),
        }
        for metric in METRICS.values()
        if metric.answer in worth.metrics
        for staying, after in (worth.metrics[metric.answer],)
    }
