"""The policies that a run can take: kinds, and those to which a scenario gives a name and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.elasticity.hindsight_policy import HINDSIGHT, hindsight_policy
from experiments.elasticity.layered_policies import LAYERS, layered_policy
from experiments.elasticity.leasing_policies import leasing_policy
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.elasticity.leasing.kinds import KINDS

if TYPE_CHECKING:
    from experiments.elasticity.asked import Asked
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.policy import Policy
    from experiments.elasticity.scenario import Scenario, SimulatedOffer


def policy_names(scenario: Scenario) -> tuple[str, ...]:
    """Return the names of all policies that a run of a scenario can take."""
    return (*KINDS, *(name for name in scenario.policy if name not in KINDS))


def policy_of(scenario: Scenario, name: str, offer: SimulatedOffer, load: Floats, asked: Asked) -> Policy:
    """Return a policy by its name.

    Args:
        scenario: The scenario; its table `policy.NAME` has parameters, and `kind` where NAME is none.
        name: Of the policy.
        offer: What is leased.
        load: (steps,) the run's load, whose time that does not count some policies may look at.
        asked: Seed, and parameters beside those of the scenario, which they replace.

    Raises:
        ScenarioError: There is no such policy, or a parameter is refused.
    """
    if name not in policy_names(scenario):
        raise ScenarioError(f"policy {name}: must be one of {', '.join(policy_names(scenario))}")
    table = {"kind": name, **scenario.policy.get(name, {}), **asked.parameters}
    kind = table["kind"]
    if isinstance(kind, str) and kind in KINDS:
        return leasing_policy(scenario, name, table, offer, asked.seed)
    if kind == LAYERS:
        return layered_policy(scenario, name, table, offer, load)
    if kind == HINDSIGHT:
        return hindsight_policy(scenario, name, table, load)
    raise ScenarioError(f"policy.{name}.kind: must be one of {', '.join((*KINDS, LAYERS, HINDSIGHT))}")
