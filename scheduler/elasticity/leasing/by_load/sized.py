"""Sizes components by their load, and chooses which hosts are kept when their paid time ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.believed import believed
from scheduler.elasticity.leasing.by_load.changing import changing
from scheduler.elasticity.leasing.by_load.end_of_unit import Judged, with_ends_judged
from scheduler.elasticity.leasing.by_load.host_set import late_cost
from scheduler.elasticity.leasing.by_load.room_by_need import RoomByNeed
from scheduler.elasticity.leasing.by_load.scarce_room import with_room_shared
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.leasing.growing import Growing
from scheduler.elasticity.leasing.remembering import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.by_load.changing import Changing
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need, SizedState
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import Observation


def decide(
    observation: Observation,
    state: SizedState,
    parameters: SizedParameters,
    seed: int,
) -> tuple[LeasingDecision, SizedState]:
    """Decide a round: components that need more get it at once, hosts go at the end of their paid time.

    What a component has beyond its need stays while it costs nothing: until its place is needed, or its host
    can be given back.

    Args:
        observation: What is known now.
        state: What the last round returned.
        parameters: Of the policy.
        seed: Without effect: nothing is drawn.

    Raises:
        ModelError: The observation names a component that the parameters do not.
    """
    del seed
    observation.check_names(parameters.components)
    now_s, leasing = observation.now_s, state.leasing
    readings, held = believed(observation, leasing, parameters)
    state = state.with_readings(now_s, readings, parameters)
    hosts = {each.name: each for each in observation.hosts}
    draft = Draft(hosts, dict(leasing.scalings), LeasingDecision(reasons=held))
    there = {each.name: draft.executors(each.name) for each in parameters.components}
    change, state = changing(now_s, readings, there, state, parameters)
    due = leasing.due(now_s, parameters.decide_interval_s)
    waiting: frozenset[str] = frozenset()
    if due:
        growing = Growing(now_s, leasing, parameters, RoomByNeed(change.needs, parameters))
        draft, waiting = _grown_together(draft, change, growing, parameters)
        draft = _with_bounds_named(draft, change.needs)
    draft, judged = with_ends_judged(draft, Judged(leasing.settled, state.spare), change, parameters, now_s)
    after = remembered(leasing, draft, now_s, looked=due and not waiting)
    state = replace(state, leasing=replace(after, settled=judged.settled), spare=judged.spare)
    state = state.after(draft.decision, parameters, now_s, waiting=waiting, planned=change.planned)
    return draft.decision, state


def _grown_together(
    draft: Draft, change: Changing, growing: Growing, parameters: SizedParameters
) -> tuple[Draft, frozenset[str]]:
    """Grow those for which it is time; what can wait for hosts waits, so that one pause does for all.

    Returns:
        The round so far, and the groups that wait: they are looked at again as soon as hosts are up.
    """
    group = {each.name: each.group for each in parameters.components}
    needs = {name: need for name, need in change.needs.items() if group[name] in change.due}
    after = _grown(draft, needs, growing, parameters)
    booting = {each.name for each in after.hosts.values() if each.status == "booting"}
    waiting = frozenset(
        group[each.component]
        for each in after.decision.starts
        if each.host in booting and change.waits_for_hosts(parameters.by_name[each.component], parameters)
    )
    if not waiting:
        return after, waiting
    others = {name: need for name, need in needs.items() if group[name] not in waiting}
    without = _grown(draft, others, growing, parameters)
    while len(without.decision.leases) < len(after.decision.leases):
        without = growing.with_host(without)
    for name in sorted(name for name in needs if group[name] in waiting):
        without = without.because("limited", name, f"{needs[name].why}, which waits for hosts that boot")
    return without, waiting


def _grown(draft: Draft, needs: Mapping[str, Need], growing: Growing, parameters: SizedParameters) -> Draft:
    """Start what is needed: where there is room, and on new hosts if being late would cost more than one.

    The price is the same that keeps or gives back a host, so that no round leases what the next gives back.
    """
    wanting = [(each, needs[each.name]) for each in parameters.components if each.name in needs]
    before = draft
    short: list[tuple[Component, Need, int]] = []
    for component, need in wanting:
        for there in range(draft.executors(component.name), need.executors):
            room = growing.find(draft, component)
            if room is None:
                short.append((component, need, there))
                break
            draft = room.draft.started(component.name, room.host).because("grown", component.name, need.why)
    worth = _worth_a_host(short, parameters)
    if short and (not worth or parameters.hosts_max is not None):
        # others may stay short of what the first ones have taken
        draft = with_room_shared(before, wanting, growing)
        counts = {component.name: draft.executors(component.name) for component, _ in wanting}
        short = [
            (each, need, counts[each.name]) for each, need in wanting if counts[each.name] < need.executors
        ]
        worth = _worth_a_host(short, parameters)
    for component, need, there in short:
        for n in range(there, need.executors):
            if not worth and n >= need.least:
                why = f"{need.why}, but late items cost less than a host"
                draft = draft.because("limited", component.name, why)
                break
            started = len(draft.decision.starts)
            draft = growing.by_one(draft, component, need.why)
            if len(draft.decision.starts) == started:
                break  # a limit is in the way, of the others too
    return draft


def _with_bounds_named(draft: Draft, needs: Mapping[str, Need]) -> Draft:
    for name, need in needs.items():
        if need.beyond is not None:
            why = f"{need.why}: {need.beyond} executors are needed, it may have {need.executors}"
            draft = draft.because("limited", name, why, "bound")
    return draft


def _worth_a_host(short: Sequence[tuple[Component, Need, int]], parameters: SizedParameters) -> bool:
    """Return whether what is late for want of executors costs more than a host."""
    late = sum(late_cost(there, need, parameters) for _, need, there in short)
    return late > parameters.offer.unit_cost
