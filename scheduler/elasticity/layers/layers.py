"""One round of both layers: operators ask, the application grants; regions ask, the infrastructure grants."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scheduler.elasticity.application_manager import granting as application
from scheduler.elasticity.application_manager.asking import ApplicationObservation, Asked
from scheduler.elasticity.infrastructure_manager import granting as infrastructure
from scheduler.elasticity.infrastructure_manager.granting import AskedHosts, InfrastructureObservation
from scheduler.elasticity.layers.managers_of import MANAGERS
from scheduler.elasticity.layers.places import free_slots, home_of_one_less, home_of_one_more
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.operator_manager.sample import OperatorObservation
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport, RegionRequest
from scheduler.elasticity.useful import least_equal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.layers.observation import LayersObservation, LayersState
    from scheduler.elasticity.layers.parameters import LayersParameters, Operator, Region
    from scheduler.elasticity.leasing.decision import Verdict
    from scheduler.elasticity.managers import RequestVerdict
    from scheduler.elasticity.operator_manager.request import OperatorRequest

LayersDecision = dict[str, LeasingDecision]
"""What is wanted in each region."""

_SAID: Mapping[RequestVerdict, Verdict] = {"held": "held", "limited": "limited"}
"""Of a request, what becomes a reason of the decision."""


def decide(
    observation: LayersObservation, state: LayersState, parameters: LayersParameters, seed: int
) -> tuple[LayersDecision, LayersState]:
    """Decide a round. Operators are asked once per `period_s`, regions once per `region_period_s`.

    Args:
        observation: What is known now.
        state: What the last round returned.
        parameters: Of all managers.
        seed: Of managers that draw; by now none does.
    """
    now_s = observation.now_s
    drafts = {
        region: Draft({each.name: each for each in observation.hosts.get(region, ())}, {})
        for region in parameters.regions
    }
    if _due(state.asked_s, now_s, parameters.period_s):
        drafts, state = _with_executors(drafts, observation, state, parameters, seed)
    if _due(state.regions_asked_s, now_s, parameters.region_period_s):
        drafts, state = _with_hosts(drafts, observation, state, parameters, seed)
    return {region: draft.decision for region, draft in drafts.items()}, state


def _due(last_s: float | None, now_s: float, period_s: float) -> bool:
    return last_s is None or not 0.0 <= now_s - last_s < period_s


def _with_executors(
    drafts: Mapping[str, Draft],
    observation: LayersObservation,
    state: LayersState,
    parameters: LayersParameters,
    seed: int,
) -> tuple[dict[str, Draft], LayersState]:
    now_s, drafts = observation.now_s, dict(drafts)
    asked, states = [], dict(state.operators)
    for each in parameters.operators:
        name = each.component.name
        if each.manager is None:
            continue
        manager = MANAGERS[type(each.manager)]
        sample = observation.samples.get(name)
        seen = OperatorObservation(now_s, sample, state.changed_s.get(name), observation.samples)
        request, states[name] = manager.decide(seen, states.get(name, manager.first), each.manager, seed)
        if request.verdict in _SAID:
            drafts[each.region] = drafts[each.region].because(_SAID[request.verdict], name, request.why)
        load = 0.0 if sample is None else sample.response_ms / each.bound_ms
        if request.component != name:  # a manager without a sample does not know it
            request = replace(request, component=name)
        asked.append(Asked(request, each.region, load, each.pause_s))
    growing = {each.region for each in asked if each.request.action > 0}
    free = {
        region: free_slots(
            tuple(drafts[region].hosts.values()), [each.component for each in parameters.of_region(region)]
        )
        for region in growing
    }
    seen_by_all = ApplicationObservation(now_s, tuple(asked), free)
    decision, remembered = application.decide(seen_by_all, state.application, parameters.application, seed)
    requests = {each.request.component: each.request for each in asked}
    changed = {}
    for grant in decision.grants:
        name, request = grant.component, requests[grant.component]
        operator = next(each for each in parameters.operators if each.component.name == name)
        draft = before = drafts[operator.region]
        if grant.action:
            draft = _changed(draft, operator, grant.action, parameters, request)
            if draft.hosts != before.hosts:
                changed[name] = now_s
        elif request.action > 0:
            draft = draft.because("limited", name, f"{request.why}: {grant.status}")
        drafts[operator.region] = draft
    unmet = Counter(state.unmet)
    unmet.update(decision.unmet)
    return drafts, replace(
        state,
        operators=states,
        application=remembered,
        changed_s={**state.changed_s, **changed},
        asked_s=now_s,
        unmet=unmet,
    )


def _changed(
    draft: Draft, operator: Operator, action: int, parameters: LayersParameters, request: OperatorRequest
) -> Draft:
    by_name = {each.component.name: each.component for each in parameters.of_region(operator.region)}
    component, tasks, why = operator.component.name, operator.component.tasks, request.why
    now, steps = draft.executors(component), [draft]
    for _ in range(abs(action)):
        hosts = tuple(draft.hosts.values())
        if action > 0:
            home = home_of_one_more(hosts, by_name[component], by_name)
            if home is None:
                break  # room that no other component needs is not enough for this one
            draft = draft.started(component, home)
        else:
            home = home_of_one_less(hosts, component, by_name)
            draft = draft if home is None else draft.stopped(component, home)
        steps.append(draft)
    if action < 0:
        return draft.because("shrunk", component, why)
    # a part of what was asked for may do no more than there is
    done = len(steps) - 1
    if done < request.action:
        done = least_equal(tasks, now + done) - now
    grown = steps[done].because("grown", component, why) if done > 0 else steps[0]
    return grown if done == request.action else grown.because("limited", component, f"{why}: no-slot")


def _with_hosts(
    drafts: Mapping[str, Draft],
    observation: LayersObservation,
    state: LayersState,
    parameters: LayersParameters,
    seed: int,
) -> tuple[dict[str, Draft], LayersState]:
    now_s, drafts = observation.now_s, dict(drafts)
    asked, states = [], dict(state.regions)
    for name, region in parameters.regions.items():
        report = _report(name, drafts[name], observation, state, parameters)
        request = RegionRequest(name, 0, "kept", "its hosts stay as they are")
        if region.manager is not None:
            manager = MANAGERS[type(region.manager)]
            seen = RegionObservation(now_s, report)
            request, states[name] = manager.decide(
                seen, states.get(name, manager.first), region.manager, seed
            )
        asked.append(AskedHosts(request, report.active, _price_per_hour(region)))
    grants, _ = infrastructure.decide(
        InfrastructureObservation(tuple(asked)),
        infrastructure.InfrastructureState(),
        parameters.infrastructure,
        seed,
    )
    requests = state.requests
    for grant in grants:
        draft, region = drafts[grant.region], parameters.regions[grant.region]
        for _ in range(grant.action):
            requests += 1
            draft = draft.leased(f"lease-{requests}", region.offer, now_s)
        lead_s = parameters.release_lead_s
        idle = [
            each
            for each in draft.hosts.values()
            if each.status == "ready"
            and not any(each.executors.values())
            and (lead_s is None or each.paid_until_s - now_s <= lead_s)
        ]
        for each in idle[max(0, len(idle) + min(0, grant.action)) :]:
            at_s = now_s if lead_s is None else max(now_s, each.paid_until_s)
            draft = draft.released(each.name, at_s).because("released", each.name, "it is idle")
        drafts[grant.region] = draft
    return drafts, replace(state, regions=states, regions_asked_s=now_s, unmet={}, requests=requests)


def _report(
    region: str,
    draft: Draft,
    observation: LayersObservation,
    state: LayersState,
    parameters: LayersParameters,
) -> RegionReport:
    ready = [each for each in draft.hosts.values() if each.status == "ready"]
    busy: list[Any] = []
    for each in parameters.of_region(region):
        sample = observation.samples.get(each.component.name)
        busy += [] if sample is None else sample.utilisation
    since_s = state.regions_asked_s
    if since_s is None:
        since_s = max(0.0, observation.now_s - parameters.region_period_s)
    return RegionReport(
        region,
        since_s,
        observation.now_s,
        ready=len(ready),
        booting=sum(each.status == "booting" for each in draft.hosts.values()),
        idle=sum(not any(each.executors.values()) for each in ready),
        utilisation=min(1.0, sum(busy) / len(busy)) if busy else 0.0,
        unmet=state.unmet.get(region, 0),
    )


def _price_per_hour(region: Region) -> float:
    return region.offer.unit_cost * 3600.0 / region.offer.billing_unit_s
