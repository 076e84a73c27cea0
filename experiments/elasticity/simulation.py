"""A run: time passes in steps, and a policy is asked again and again."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from experiments.elasticity.fleet import Counts, Fleet
from experiments.elasticity.loads import load_at
from experiments.elasticity.observing import Observer
from experiments.elasticity.outcome import Outcome, outcome_of
from experiments.elasticity.policies import policy_of
from experiments.elasticity.policy import Moment
from experiments.elasticity.queues import Queues
from experiments.elasticity.scenario_file import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from experiments.elasticity.asked import Asked
    from experiments.elasticity.scenario import Scenario


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
    policy = policy_of(scenario, asked.policy, offer, load, asked)
    queues = Queues(scenario, load)
    fleets = {
        region: Fleet(scenario, offer, asked.seed + k, first)
        for k, (region, first) in enumerate(policy.first.items())
    }
    observer = Observer(scenario, queues, asked.seed)
    every = max(1, round(scenario.monitor_interval_s / scenario.step_s))
    # what there is at the beginning is paid in the first minute
    looks, before, changes = [(0, replace(_counts(fleets), units=0))], 0, 0
    for step in (*range(every, scenario.steps, every), scenario.steps):
        times_s = np.arange(before, step) * scenario.step_s
        working = [fleet.working(times_s) for fleet in fleets.values()]
        queues.step(before, step, {name: each for own in working for name, each in own.items()})
        now_s = observer.time_s(step)
        for fleet in fleets.values():
            fleet.pass_until(now_s)
        if step < scenario.steps:
            decisions = policy.decide(observer, fleets, Moment(step, before))
            for region, decision in decisions.items():
                fleets[region].carry_out(decision, now_s)
            changes += any(each.stops or each.starts or each.moves for each in decisions.values())
        looks.append((step, replace(_counts(fleets), reconfigurations=changes)))
        before = step
    return outcome_of(scenario, offer, queues, looks)


def _counts(fleets: Mapping[str, Fleet]) -> Counts:
    return reduce(Counts.with_those_of, (each.counts() for each in fleets.values()))


def _named(what: str, known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise ScenarioError(f"{what} {name}: must be one of {', '.join(known)}")
    return known[name]
