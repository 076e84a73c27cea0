"""Policies by one decision for executors and hosts: by billing units, their baseline, and ours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from experiments.elasticity.policy import First
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.elasticity.leasing import btu, threshold
from scheduler.elasticity.leasing.btu_parameters import BtuParameters
from scheduler.elasticity.leasing.by_load import sized
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer
from scheduler.elasticity.leasing.removal_score import RemovalWeights
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.leasing.threshold import ThresholdParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.observing import Observer
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.scenario import Scenario, SimulatedComponent, SimulatedOffer
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters


class Decide(Protocol):
    """A policy: pure, so that a run can be repeated."""

    def __call__(
        self, observation: Observation, state: Any, parameters: Any, seed: int
    ) -> tuple[LeasingDecision, Any]:
        """Decide a round."""


@dataclass(frozen=True)
class Kind:
    """A kind of policy.

    Attributes:
        decide: Decides a round.
        parameters: Type of its parameters.
        first: State before its first round.
    """

    decide: Decide
    parameters: type[LeasingParameters]
    first: Any


KINDS: Mapping[str, Kind] = {
    "btu": Kind(btu.decide, BtuParameters, LeasingState()),
    "threshold": Kind(threshold.decide, ThresholdParameters, LeasingState()),
    "sized": Kind(sized.decide, SizedParameters, SizedState()),
}
_GIVEN = ("components", "offer")
"""Parameters that follow from the scenario."""


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
    own = {each.name for each in fields(kind.parameters) if each.name not in _GIVEN}
    given = {key: value for key, value in table.items() if key != "kind"}
    if "penalty" in own:
        given.setdefault("penalty", scenario.late_penalty)
    faults = [f"policy.{name}.{key}: unknown key" for key in given if key not in own]
    if faults:
        raise ScenarioError("; ".join(faults))
    components = tuple(component_of(each) for each in scenario.component)
    try:
        if isinstance(given.get("weights"), dict):
            given["weights"] = RemovalWeights(**given["weights"])
        parameters = kind.parameters(components=components, offer=offer_of(offer), **given)
    except TypeError as error:
        raise ScenarioError(f"policy.{name}.weights: {error}") from error
    except ValueError as error:
        raise ScenarioError(f"policy.{name}.{error}") from error
    return LeasingPolicy(kind, parameters, seed, kind.first)


def component_of(each: SimulatedComponent) -> Component:
    """Return a component as policies know it."""
    return Component(each.name, each.slo_ms, each.cpu, each.memory_mb, each.least, each.most)


def offer_of(offer: SimulatedOffer) -> Offer:
    """Return a kind of hosts as policies know it."""
    return Offer(offer.cpu, offer.memory_mb, offer.billing_unit_s, offer.unit_cost)
