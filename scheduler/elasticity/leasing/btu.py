"""The policy by billing units (paper 003): grow when late, give hosts back at the end of their paid time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.believed import believed
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.leasing.emptying import emptied
from scheduler.elasticity.leasing.growing import Growing
from scheduler.elasticity.leasing.remembering import remembered
from scheduler.elasticity.leasing.room import Search
from scheduler.elasticity.leasing.situation import Situation
from scheduler.elasticity.leasing.trigger import needs_one_more

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.btu_parameters import BtuParameters
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.growing import Room
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.state import LeasingState


def decide(
    observation: Observation,
    state: LeasingState,
    parameters: BtuParameters,
    seed: int,
) -> tuple[LeasingDecision, LeasingState]:
    """Decide a round: which components grow, then which hosts whose paid time ends are given back.

    Paper 003 does not state the order of the two. Components grow first, so that no host is given back that
    one of them needs in the same round.

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
    readings, held = believed(observation, state, parameters)
    situation = Situation(observation.now_s, readings, state, parameters)
    hosts = {each.name: each for each in observation.hosts}
    draft = Draft(hosts, dict(state.scalings), LeasingDecision(reasons=held))
    due = state.due(observation.now_s, parameters.decide_interval_s)
    if due:
        for component in parameters.components:
            draft = _grown(draft, component, situation)
    settled = {name: end for name, end in state.settled.items() if name in hosts}
    for host in sorted(observation.hosts, key=lambda each: each.paid_until_s):
        near = host.paid_until_s - observation.now_s <= parameters.window_s
        if near and host.status != "leaving" and settled.get(host.name) != host.paid_until_s:
            settled[host.name] = host.paid_until_s
            draft = _judged(draft, host, situation)
    after = remembered(state, draft, observation.now_s, looked=due)
    return draft.decision, replace(after, settled=settled)


def _grown(draft: Draft, component: Component, situation: Situation) -> Draft:
    parameters = situation.parameters
    if component.name not in situation.readings:
        return draft
    durations, queued = situation.durations_ms(component.name), situation.queued(component.name)
    crowded = queued > parameters.crowded_above
    if not durations and not crowded:
        return draft.because("held", component.name, "nothing that it has processed is recorded")
    if not crowded and not needs_one_more(durations, component.slo_ms, queued, parameters.queue_up):
        return draft
    growing = Growing(situation.now_s, situation.state, parameters, partial(_room, situation))
    for _ in range(2 if crowded else 1):
        draft = growing.by_one(draft, component, f"it cannot keep up, {queued:g} items are queued")
    return draft


def _room(situation: Situation, draft: Draft, component: Component) -> Room | None:
    targets = [each.name for each in draft.hosts.values() if each.status != "leaving"]
    return Search.within(draft, situation, targets).room(draft, component)


def _judged(draft: Draft, host: Host, situation: Situation) -> Draft:
    """Release a host, or keep it for another billing unit and say why."""
    why = _why_kept(draft, host, situation)
    if not why:
        plan = emptied(draft, host.name, situation)
        if plan is not None:
            left = "no executor runs there at the end of its paid time"
            return plan.released(host.name, host.paid_until_s).because("released", host.name, left)
        why = "its executors have no room elsewhere"
    return draft.prolonged(host.name).because("prolonged", host.name, why)


def _why_kept(draft: Draft, host: Host, situation: Situation) -> str:
    """Return why a host is kept, whatever room there is elsewhere; empty if nothing speaks against going."""
    parameters, now_s = situation.parameters, situation.now_s
    unknown = [each for each in draft.hosts[host.name].executors if not situation.durations_ms(each)]
    leased_s = now_s if draft.decision.leases else situation.state.leased_s
    staying = sum(each.status == "ready" for each in draft.hosts.values())
    conditions = (
        (host.status == "booting", "it is not up yet"),
        (now_s >= host.paid_until_s, "the end of its paid time has passed before it was looked at"),
        (staying <= parameters.hosts_min, f"at least {parameters.hosts_min} hosts stay"),
        (bool(unknown), f"nothing is known of {unknown[0] if unknown else ''}, which runs there"),
        (draft.has_taken(host.name), "it has just been given an executor"),
        (
            # none on a clock that was set back
            leased_s is not None and 0.0 <= now_s - leased_s < parameters.cooldown_s,
            "a host has just been leased",
        ),
    )
    return next((why for holds, why in conditions if holds), "")
