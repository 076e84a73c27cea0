"""The policies that a run can take, with the parameters that a scenario gives them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from experiments.elasticity.scenario_file import ScenarioError
from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing import btu, sized, threshold
from scheduler.elasticity.leasing.btu_parameters import BtuParameters
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer
from scheduler.elasticity.leasing.removal_score import RemovalWeights
from scheduler.elasticity.leasing.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.sizing import SizedState
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.leasing.threshold import ThresholdParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.scenario import Scenario, SimulatedOffer
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
class Policy:
    """A policy in a run, with what it remembers.

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

    def decide(self, observation: Observation) -> LeasingDecision:
        """Decide a round, and remember it."""
        decision, self.state = self.kind.decide(observation, self.state, self.parameters, self.seed)
        return decision


def policy_names(scenario: Scenario) -> tuple[str, ...]:
    """Return the names of all policies that a run of a scenario can take."""
    return (*KINDS, *(name for name in scenario.policy if name not in KINDS))


def policy_of(
    scenario: Scenario, name: str, offer: SimulatedOffer, seed: int, more: Mapping[str, Any]
) -> Policy:
    """Return a policy by its name: a kind, or one to which the scenario gives a name and parameters.

    Args:
        scenario: The scenario; its table `policy.NAME` has parameters, and `kind` where NAME is none.
        name: Of the policy.
        offer: What is leased.
        seed: Of its chance.
        more: Parameters beside those of the scenario, which they replace.

    Raises:
        ScenarioError: There is no such policy, or a parameter is refused.
    """
    if name not in policy_names(scenario):
        raise ScenarioError(f"policy {name}: must be one of {', '.join(policy_names(scenario))}")
    table = {"kind": name, **scenario.policy.get(name, {}), **more}
    kind = KINDS.get(str(table.pop("kind")))
    if kind is None:
        raise ScenarioError(f"policy.{name}.kind: must be one of {', '.join(KINDS)}")
    own = {each.name: each for each in fields(kind.parameters) if each.name not in _GIVEN}
    faults = [f"policy.{name}.{key}: unknown key" for key in table if key not in own]
    if faults:
        raise ScenarioError("; ".join(faults))
    components = tuple(
        Component(each.name, each.slo_ms, each.cpu, each.memory_mb, each.least, each.most)
        for each in scenario.component
    )
    leased = Offer(offer.cpu, offer.memory_mb, offer.billing_unit_s, offer.unit_cost)
    try:
        if isinstance(table.get("weights"), dict):
            table["weights"] = RemovalWeights(**table["weights"])
        parameters = kind.parameters(components=components, offer=leased, **table)
    except TypeError as error:
        raise ScenarioError(f"policy.{name}.weights: {error}") from error
    except ModelError as error:
        raise ScenarioError(f"policy.{name}.{error}") from error
    return Policy(kind, parameters, seed, kind.first)
