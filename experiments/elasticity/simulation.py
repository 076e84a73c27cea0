"""A run: time passes in steps, and a policy is asked again and again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.elasticity.fleet import Counts, Fleet
from experiments.elasticity.loads import load_at
from experiments.elasticity.observing import Observer
from experiments.elasticity.outcome import Outcome, outcome_of
from experiments.elasticity.policies import policy_of
from experiments.elasticity.queues import Queues
from experiments.elasticity.scenario_file import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from experiments.elasticity.scenario import Scenario


@dataclass(frozen=True)
class Asked:
    """What is run.

    Attributes:
        policy: Name of the policy.
        load: Name of the load.
        offer: Name of the kind of hosts.
        seed: Of load, disturbances and durations.
        parameters: Of the policy, beside those that the scenario gives.
    """

    policy: str
    load: str
    offer: str
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


def simulate(scenario: Scenario, asked: Asked) -> Outcome:
    """Carry out a run.

    Args:
        scenario: The scenario.
        asked: Policy, load, hosts and seed.

    Raises:
        ScenarioError: The scenario has no such policy, load or offer, or the policy refuses a parameter.
    """
    offer = _named("offer", scenario.offer, asked.offer)
    load = load_at(_named("load", scenario.load, asked.load), scenario.steps, scenario.step_s, asked.seed)
    policy = policy_of(scenario, asked.policy, offer, asked.seed, asked.parameters)
    queues = Queues(scenario, load)
    fleet = Fleet(scenario, offer, asked.seed)
    observer = Observer(scenario, queues, asked.seed)
    every = max(1, round(scenario.monitor_interval_s / scenario.step_s))
    looks = [*range(every, scenario.steps, every), scenario.steps]
    before, seen = 0, list[tuple[int, Counts]]()
    for step in looks:
        times_s = np.arange(before, step) * scenario.step_s
        queues.step(before, step, fleet.working(times_s))
        now_s = step * scenario.step_s
        fleet.pass_until(now_s)
        if step < scenario.steps:
            fleet.carry_out(policy.decide(observer.observation(fleet, step, before)), now_s)
        seen.append((step, fleet.counts()))
        before = step
    fleet.end(scenario.steps * scenario.step_s)
    return outcome_of(scenario, offer, queues, fleet, seen)


def _named(what: str, known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise ScenarioError(f"{what} {name}: must be one of {', '.join(known)}")
    return known[name]
