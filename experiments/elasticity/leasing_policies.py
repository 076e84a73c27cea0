"""Policies by one decision for executors and hosts: by billing units, their baseline, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.elasticity.policy import First
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer
from scheduler.elasticity.leasing.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.observing import Observer
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.scenario import Scenario, SimulatedComponent, SimulatedOffer
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.kinds import Kind
    from scheduler.elasticity.leasing.parameters import LeasingParameters


@dataclass
class LeasingPolicy:
    """A policy by one decision for executors and hosts, with what it remembers; it knows no regions.

    Attributes:
        kind: Its kind.
        parameters: Of it.
        seed: Of its chance.
        state: What it remembers.
    """

    kind: Kind
    parameters: LeasingParameters
    seed: int
    state: Any

    @property
    def first(self) -> Mapping[str, First]:
        """One host with the least executors of all components."""
        return {"": First({each.name: each.least for each in self.parameters.components}, 1)}

    def decide(
        self, observer: Observer, fleets: Mapping[str, Fleet], now: Moment
    ) -> Mapping[str, LeasingDecision]:
        """Decide a round, and remember it."""
        observation = observer.observation(fleets[""], now)
        decision, self.state = self.kind.decide(observation, self.state, self.parameters, self.seed)
        return {"": decision}


def leasing_policy(
    scenario: Scenario, name: str, table: Mapping[str, Any], offer: SimulatedOffer, seed: int
) -> LeasingPolicy:
    """Return a policy with its parameters.

    Args:
        scenario: What it scales.
        name: Of the policy, for messages.
        table: Its kind and parameters.
        offer: What it leases.
        seed: Of its chance.

    Raises:
        ScenarioError: A parameter is refused.
    """
    kind = KINDS[table["kind"]]
    given = {key: value for key, value in table.items() if key != "kind"}
    if "penalty" in kind.own:
        given.setdefault("penalty", scenario.late_penalty)
    components = tuple(component_of(each, scenario.pause_s) for each in scenario.component)
    faults = [f"policy.{name}.{key}: unknown key" for key in given if key not in kind.own]
    if faults:
        raise ScenarioError("; ".join(faults))
    try:
        parameters = kind.parameters_of(components, offer_of(offer), given)
    except ValueError as error:
        raise ScenarioError(f"policy.{name}.{error}") from error
    return LeasingPolicy(kind, parameters, seed, kind.first)


def component_of(each: SimulatedComponent, pause_s: float = 0.0) -> Component:
    """Return a component as policies know it, with the pause of a change, s."""
    return Component(each.name, each.slo_ms, each.cpu, each.memory_mb, each.least, each.most, pause_s=pause_s)


def offer_of(offer: SimulatedOffer) -> Offer:
    """Return a kind of hosts as policies know it."""
    return Offer(offer.cpu, offer.memory_mb, offer.billing_unit_s, offer.unit_cost, offer.boot_s)
