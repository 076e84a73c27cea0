"""Hindsight's plan as a policy, so that the same simulator says what it costs with all that it neglects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.elasticity.hindsight import Question, hindsight
from experiments.elasticity.layered_policies import EXECUTORS_MAX, path_of
from experiments.elasticity.leasing_policies import component_of
from experiments.elasticity.policy import First
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.base.checks import whole_number
from scheduler.elasticity.layers.places import home_of_one_less, home_of_one_more
from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.observing import Observer
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.scenario import Scenario
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.decision import LeasingDecision

HINDSIGHT = "hindsight"
"""The kind."""
_BEGINS_BEFORE = 5
"""Periods for which the first executors of the plan run before they count, so that their pause does not."""
_KEYS = {"kind", "weights", "hosts_max", "executors_max"}


@dataclass(frozen=True)
class HindsightPolicy:
    """A plan for the time that counts; before it there are as many executors as there may be.

    Attributes:
        wanted: (n_periods,) executors of each component.
        counted_from: First step that counts.
        every: Steps of a period.
        components: By region and name.
        first: What there is to begin with, by region.
    """

    wanted: tuple[Mapping[str, int], ...]
    counted_from: int
    every: int
    components: Mapping[str, Mapping[str, Component]]
    first: Mapping[str, First]

    def decide(
        self, observer: Observer, fleets: Mapping[str, Fleet], now: Moment
    ) -> Mapping[str, LeasingDecision]:
        """Change executors to those of the period that begins."""
        period = (now.step - self.counted_from) // self.every
        if period < -_BEGINS_BEFORE:
            return {}
        wanted = self.wanted[min(max(0, period), len(self.wanted) - 1)]
        return {
            region: self._draft(region, fleet, observer.time_s(now.step), wanted).decision
            for region, fleet in fleets.items()
        }

    def _draft(self, region: str, fleet: Fleet, now_s: float, wanted: Mapping[str, int]) -> Draft:
        known = self.components[region]
        draft = Draft({each.name: each for each in fleet.seen(now_s)}, {})
        for name in known:
            for _ in range(draft.executors(name) - wanted[name]):
                home = home_of_one_less(tuple(draft.hosts.values()), name, known)
                draft = draft if home is None else draft.stopped(name, home)
        for name, component in known.items():
            for _ in range(wanted[name] - draft.executors(name)):
                home = home_of_one_more(tuple(draft.hosts.values()), component, known)
                draft = draft if home is None else draft.started(name, home)
        return draft


def hindsight_policy(
    scenario: Scenario, name: str, table: Mapping[str, Any], load: Floats
) -> HindsightPolicy:
    """Return the policy that knew the load.

    Args:
        scenario: What it scales: a chain with a bound on the response time, and components have regions.
        name: Of the policy, for messages.
        table: `weights` of the cost, `hosts_max` of a region, `executors_max`.
        load: (steps,) the run's load.

    Raises:
        ScenarioError: A parameter is missing or refused.
    """
    where = f"policy.{name}"
    faults = [f"{where}.{key}: unknown key" for key in table if key not in _KEYS]
    faults += [f"{where}.{key}: missing" for key in ("hosts_max",) if key not in table]
    if scenario.response_max_ms is None:
        faults.append(f"response_max_ms: missing, which {where} needs")
    if faults:
        raise ScenarioError("; ".join(faults))
    try:
        whole_number("hosts_max", table["hosts_max"], 1)
        weights = OperatorWeights(**table.get("weights", {}))
        path = path_of(scenario, table.get("executors_max", EXECUTORS_MAX))
        question = Question(scenario=scenario, path=path, weights=weights, drains=True)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"{where}.{error}") from error
    most = {part.component: part.executors_max for part in path.parts}
    names = [part.component for part in path.parts]
    wanted = tuple(dict(zip(names, each, strict=True)) for each in hindsight(question, load).executors)
    components: dict[str, dict[str, Component]] = {}
    for each in scenario.component:
        components.setdefault(each.region, {})[each.name] = component_of(each)
    first = {
        region: First({name: most[name] for name in known}, table["hosts_max"])
        for region, known in components.items()
    }
    every = max(1, round(scenario.monitor_interval_s / scenario.step_s))
    return HindsightPolicy(wanted, scenario.counted_from, every, components, first)
