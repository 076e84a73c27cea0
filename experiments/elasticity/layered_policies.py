"""Policies in two layers: managers of components and sites ask, of the application and the hosts grant."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from experiments.elasticity.leasing_policies import component_of, offer_of
from experiments.elasticity.policy import First
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.base.checks import ModelError
from scheduler.elasticity.layers import layers
from scheduler.elasticity.layers.observation import LayersObservation, LayersState
from scheduler.elasticity.layers.parameters import LayersParameters, Operator, Region
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.queue_model import bounds_ms, least_executors
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters
from scheduler.elasticity.region_manager.idle_pool import IdlePoolParameters
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters, RegionWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.observing import Observer
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.scenario import Scenario, SimulatedComponent, SimulatedOffer
    from scheduler.elasticity.layers.managers_of import OperatorParameters, RegionParameters
    from scheduler.elasticity.leasing.decision import LeasingDecision

LAYERS = "layers"
"""The kind of all of them."""
_OPERATORS: Mapping[str, type[Any] | None] = {
    "threshold": ThresholdParameters,
    "model-based": ModelBasedParameters,
    "static": None,
}
_HOSTS: Mapping[str, type[Any] | None] = {
    "idle-pool": IdlePoolParameters,
    "model-based": RegionModelParameters,
    "static": None,
}
_KEYS = {
    "kind",
    "operators",
    "hosts",
    "operator",
    "region",
    "hosts_max",
    "executors_max",
    "period_s",
    "region_period_s",
}
_RATE_ROOM = 1.25
"""Of the highest rate before what counts is the highest that managers know of."""
_Record = TypeVar("_Record")


@dataclass
class LayeredPolicy:
    """Both layers, with what they remember.

    Attributes:
        parameters: Of all managers.
        first: What there is to begin with, by region.
        state: What they remember.
    """

    parameters: LayersParameters
    first: Mapping[str, First]
    state: LayersState

    def decide(
        self, observer: Observer, fleets: Mapping[str, Fleet], now: Moment
    ) -> Mapping[str, LeasingDecision]:
        """Decide a round for each region."""
        hosts = {region: fleet.seen(observer.time_s(now.step)) for region, fleet in fleets.items()}
        observation = LayersObservation(observer.time_s(now.step), hosts, observer.samples(fleets, now))
        decision, self.state = layers.decide(observation, self.state, self.parameters, 0)
        return decision


def layered_policy(
    scenario: Scenario, name: str, table: Mapping[str, Any], offer: SimulatedOffer, load: Floats
) -> LayeredPolicy:
    """Return a policy with its parameters.

    Args:
        scenario: What it scales; it has a bound on the response time, and components have regions.
        name: Of the policy, for messages.
        table: `operators` and `hosts` (kinds of managers), `operator` and `region` (their parameters),
            `executors_max`, `hosts_max` of a region, `period_s`, `region_period_s`.
        offer: What is leased in every region.
        load: (steps,) the run's load; as far as it does not count its peak is known.

    Raises:
        ScenarioError: A parameter is missing or refused.
    """
    where = f"policy.{name}"
    faults = [f"{where}.{key}: unknown key" for key in table if key not in _KEYS]
    faults += [f"{where}.{key}: missing" for key in ("operators", "hosts", "hosts_max") if key not in table]
    if scenario.response_max_ms is None:
        faults.append(f"response_max_ms: missing, which {where} needs")
    if faults:
        raise ScenarioError("; ".join(faults))
    most = int(table.get("executors_max", 12))
    peak = _RATE_ROOM * float(load[: max(1, scenario.counted_from)].max())
    try:
        operators = tuple(
            _operator(scenario, each, bound, peak, table)
            for each, bound in zip(scenario.component, _bounds_ms(scenario), strict=True)
        )
        regions = {
            each: Region(offer_of(offer), _region_manager(table))
            for each in dict.fromkeys(o.region for o in operators)
        }
        parameters = LayersParameters(
            operators=operators,
            regions=regions,
            period_s=float(table.get("period_s", 60.0)),
            region_period_s=float(table.get("region_period_s", 120.0)),
        )
    except ModelError as error:
        raise ScenarioError(f"{where}.{error}") from error
    static_hosts = int(table["hosts_max"]) if table["hosts"] == "static" else 1
    demand = scenario.demand_per_s()
    first = {
        region: First(
            {
                each.component.name: (
                    _enough(demand[each.component.name] * peak / _RATE_ROOM, each, scenario, most)
                    if table["operators"] == "static"
                    else each.component.least
                )
                for each in parameters.of_region(region)
            },
            static_hosts,
        )
        for region in regions
    }
    return LayeredPolicy(parameters, first, LayersState())


def _bounds_ms(scenario: Scenario) -> tuple[float, ...]:
    """Return what each component may take: the bound less the network's delays, by service times.

    Only exact for a chain; of other shapes every component counts as on the longest path.
    """
    rates = [1000.0 / each.service_ms for each in scenario.component]
    network_ms = sum(each.delay_ms for each in scenario.component)
    return bounds_ms(scenario.response_max_ms or 0.0, network_ms, rates)


def _operator(
    scenario: Scenario, each: SimulatedComponent, bound_ms: float, peak: float, table: Mapping[str, Any]
) -> Operator:
    rate_max = scenario.demand_per_s()[each.name] * peak
    given: dict[str, Any] = {
        "executors_max": int(table.get("executors_max", 12)),
        "executors_min": each.least,
    }
    kind = _kind("operators", table, _OPERATORS)
    if kind is ModelBasedParameters:
        given |= {
            "rate_max": rate_max,
            "response_max_ms": bound_ms,
            "service_rate": 1000.0 / each.service_ms,
            "pause_s": scenario.pause_s,
        }
    manager: OperatorParameters | None = _made(kind, "operator", given, table, OperatorWeights)
    return Operator(component_of(each), each.region, bound_ms, manager, scenario.pause_s)


def _region_manager(table: Mapping[str, Any]) -> RegionParameters | None:
    kind = _kind("hosts", table, _HOSTS)
    made: RegionParameters | None = _made(
        kind, "region", {"hosts_max": int(table["hosts_max"]), "hosts_min": 1}, table, RegionWeights
    )
    return made


def _kind(key: str, table: Mapping[str, Any], kinds: Mapping[str, type[Any] | None]) -> type[Any] | None:
    if table[key] not in kinds:
        raise ModelError(key, f"must be one of {', '.join(kinds)}")
    return kinds[table[key]]


def _made(
    kind: type[Any] | None, key: str, given: Mapping[str, Any], table: Mapping[str, Any], weights: type[Any]
) -> Any:
    """Return a manager's parameters from its table; None where it is static."""
    if kind is None:
        return None
    own = dict(table.get(key, {}))
    unknown = [each for each in own if each not in {field.name for field in fields(kind)}]
    if unknown:
        raise ModelError(f"{key}.{unknown[0]}", "unknown key")
    if isinstance(own.get("weights"), dict):
        own["weights"] = weights(**own["weights"])
    try:
        return kind(**{**given, **own})
    except ModelError as error:
        raise error.under(key) from error


def _enough(rate: float, operator: Operator, scenario: Scenario, most: int) -> int:
    """Return the least executors that keep a component's bound at a rate."""
    service_ms = next(each.service_ms for each in scenario.component if each.name == operator.component.name)
    return least_executors(rate, 1000.0 / service_ms, operator.bound_ms, most) or most
