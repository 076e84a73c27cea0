"""Policies in two layers: managers of components and sites ask, of the application and the hosts grant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.elasticity.leasing_policies import component_of, offer_of
from experiments.elasticity.policy import First
from experiments.elasticity.scenario_file import ScenarioError
from scheduler.base.checks import ModelError, number, one_of, shown, whole_number
from scheduler.elasticity.application_manager.granting import ApplicationParameters
from scheduler.elasticity.layers import layers
from scheduler.elasticity.layers.observation import LayersObservation, LayersState
from scheduler.elasticity.layers.one_pool.parameters import POOL
from scheduler.elasticity.layers.parameters import LayersParameters, Operator, Region
from scheduler.elasticity.layers.tables import OPERATOR_MANAGERS, REGION_MANAGERS, manager_from
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
from scheduler.elasticity.operator_manager.path import Path, PathPart
from scheduler.elasticity.operator_manager.queue_model import bounds_ms, least_executors
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.observing import Observer
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.scenario import Scenario, SimulatedComponent, SimulatedOffer
    from scheduler.elasticity.layers.managers_of import RegionParameters
    from scheduler.elasticity.leasing.decision import LeasingDecision

LAYERS = "layers"
"""The kind of all of them."""
_OPERATORS: Mapping[str, type[Any] | None] = {**OPERATOR_MANAGERS, "static": None}
_HOSTS: Mapping[str, type[Any] | None] = {**REGION_MANAGERS, "static": None}
_OF_SCENARIO = {"path", "component"}
"""Parameters of managers that only the scenario says."""
_KEYS = {
    "kind",
    "operators",
    "hosts",
    "operator",
    "region",
    "application",
    "hosts_max",
    "executors_max",
    "period_s",
    "region_period_s",
}
EXECUTORS_MAX = 12
"""Of each component, if a policy does not say it."""
_RATE_ROOM = 1.25
"""Of the highest rate before what counts is the highest that managers know of."""


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
        scenario: What it scales; it has a bound on the response time; components without a region share one.
        name: Of the policy, for messages.
        table: `operators` and `hosts` (kinds of managers), `operator`, `region` and `application` (their
            parameters), `executors_max`, `hosts_max` of a region, `period_s`, `region_period_s`.
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
    known = load[: scenario.counted_from] if scenario.counted_from else load
    executors_max, hosts_max = table.get("executors_max", EXECUTORS_MAX), table["hosts_max"]
    try:
        whole_number("executors_max", executors_max, 1)
        whole_number("hosts_max", hosts_max, 1)
        given = _Given(scenario, table, executors_max, hosts_max, float(known.max()))
        operators = given.operators()
        manager = given.region_manager()
        regions = {each.region: Region(offer_of(offer), manager) for each in operators}
        parameters = LayersParameters(
            operators=operators,
            regions=regions,
            application=given.application_manager(),
            period_s=number("period_s", table.get("period_s", 60.0), above=0.0),
            region_period_s=number("region_period_s", table.get("region_period_s", 120.0), above=0.0),
        )
    except ValueError as error:
        raise ScenarioError(f"{where}.{error}") from error
    first = {region: given.first(parameters.of_region(region)) for region in regions}
    return LayeredPolicy(parameters, first, LayersState())


def path_of(scenario: Scenario, executors_max: int) -> Path:
    """Return the components of a scenario as one path, by unit of load; exact for a chain."""
    demand = scenario.demand_per_s()
    network_ms = sum(each.delay_ms for each in scenario.component)
    parts = (
        PathPart(each.name, demand[each.name], 1000.0 / each.service_ms, executors_max, each.least)
        for each in scenario.order
    )
    return Path(tuple(parts), (scenario.response_max_ms or 0.0) - network_ms)


@dataclass(frozen=True)
class _Given:
    """What managers are made from.

    Attributes:
        scenario: The scenario.
        table: Of the policy.
        executors_max: Of each component.
        hosts_max: Of each region.
        peak: Highest load that is known beforehand.
    """

    scenario: Scenario
    table: Mapping[str, Any]
    executors_max: int
    hosts_max: int
    peak: float

    def operators(self) -> tuple[Operator, ...]:
        """Return the components with their managers.

        Bounds are exact for a chain; of other shapes every component counts as on the longest path.
        """
        components = self.scenario.component
        rates = [1000.0 / each.service_ms for each in components]
        network_ms = sum(each.delay_ms for each in components)
        bounds = bounds_ms(self.scenario.response_max_ms or 0.0, network_ms, rates)
        return tuple(self._operator(each, bound) for each, bound in zip(components, bounds, strict=True))

    def _operator(self, each: SimulatedComponent, bound_ms: float) -> Operator:
        kind = self._kind("operators", _OPERATORS)
        given: dict[str, Any] = {}
        if kind in {ThresholdParameters, ModelBasedParameters}:
            given |= {"executors_max": self.executors_max, "executors_min": each.least}
        if kind is ModelBasedParameters:
            given |= {
                "rate_max": self.scenario.demand_per_s()[each.name] * self.peak * _RATE_ROOM,
                "response_max_ms": bound_ms,
                "service_rate": 1000.0 / each.service_ms,
                "pause_s": self.scenario.pause_s,
                "path": path_of(self.scenario, self.executors_max),
                "component": each.name,
            }
        if kind is RollingParameters:
            given |= {
                "path": path_of(self.scenario, self.executors_max),
                "pause_s": self.scenario.pause_s,
            }
        manager = self._made(kind, "operator", given)
        return Operator(component_of(each), each.region or POOL, bound_ms, manager, self.scenario.pause_s)

    def region_manager(self) -> RegionParameters | None:
        """Return parameters of the manager of every region."""
        given = {"hosts_max": self.hosts_max, "hosts_min": 1}
        made: RegionParameters | None = self._made(self._kind("hosts", _HOSTS), "region", given)
        return made

    def application_manager(self) -> ApplicationParameters:
        """Return parameters of the application manager."""
        made: ApplicationParameters = self._made(ApplicationParameters, "application", {})
        return made

    def first(self, operators: Sequence[Operator]) -> First:
        """Return what a region has to begin with: if it is static, enough for the peak."""
        demand = self.scenario.demand_per_s()
        service_ms = {each.name: each.service_ms for each in self.scenario.component}
        executors = {}
        for each in operators:
            name = each.component.name
            enough = least_executors(
                demand[name] * self.peak, 1000.0 / service_ms[name], each.bound_ms, self.executors_max
            )
            static = self.table["operators"] == "static"
            executors[name] = (enough or self.executors_max) if static else each.component.least
        return First(executors, self.hosts_max if self.table["hosts"] == "static" else 1)

    def _kind(self, key: str, kinds: Mapping[str, type[Any] | None]) -> type[Any] | None:
        name = self.table[key]
        one_of(key, name, tuple(kinds))
        return kinds[name]

    def _made(self, kind: type[Any] | None, key: str, given: Mapping[str, Any]) -> Any:
        """Return a manager's parameters from its table; None where it is static."""
        own = self.table.get(key, {})
        if kind is None:
            if not isinstance(own, dict):
                raise ModelError(key, f"expected a table, got {shown(own)}")
            return None
        return manager_from(kind, key, own, given, _OF_SCENARIO)
