"""Parameters of both layers where they scale one pool of hosts, and the managers that follow from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, number, one_of, shown
from scheduler.elasticity.application_manager.granting import ApplicationParameters
from scheduler.elasticity.layers.one_pool.basis import Basis, PartBasis
from scheduler.elasticity.layers.parameters import LayersParameters, Operator, Region
from scheduler.elasticity.layers.tables import OPERATOR_MANAGERS, REGION_MANAGERS, manager_from
from scheduler.elasticity.leasing.parameters import LeasingParameters
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
from scheduler.elasticity.operator_manager.path import Path, PathPart
from scheduler.elasticity.operator_manager.queue_model import bounds_ms
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters
from scheduler.elasticity.region_manager.idle_pool import IdlePoolParameters
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters, RegionWeights

if TYPE_CHECKING:
    from scheduler.elasticity.layers.managers_of import OperatorParameters, RegionParameters
    from scheduler.elasticity.leasing.component import Component

POOL = "pool"
"""Name of the only region."""
_NO_LIMIT = 1_000_000
"""Hosts, where there may be any number."""
_FAST_MS = 1e-6
"""A service time with which weights are refused only if they would be with any other."""
_REPAIRED: Mapping[str, object] = {
    "skip_disturbed": True,
    "hold_disturbed": True,
    "keep_estimates": True,
    "guard": True,
    "start_from_queues": True,
    "steps": 3,
    "learning_rate": 0.03,
}
"""Of the model-based manager, unless its table says otherwise: `model-based-all-repairs` of the scenario."""
_FOLLOWING = frozenset(
    {
        "executors_max",
        "executors_min",
        "tasks",
        "rate_max",
        "response_max_ms",
        "service_rate",
        "path",
        "component",
        "period_s",
        "pause_s",
        "hosts_max",
        "hosts_min",
        "sample_age_max_s",
    }
)
"""Parameters of managers that follow from the others here."""


def topology_of(component: str) -> str:
    """Return the topology of a component, whose name is TOPOLOGY/COMPONENT."""
    return component.partition("/")[0]


@dataclass(frozen=True, kw_only=True)
class OnePoolParameters(LeasingParameters):
    """Parameters; operators are asked once per `decide_interval_s`.

    Attributes:
        operators: Kind of the managers of components: "threshold", "model-based" or "rolling".
        hosts: Kind of the manager of hosts: "idle-pool" or "model-based".
        response_max_ms: R_max, bound on the mean time of an item in all components of its topology together,
            without the network between them, ms (> 0); a number, or one for each topology. It has no default.
        rate_max: Items per second that come at most to the component of a topology to which most comes
            (> 0), likewise; None: what a component's most executors can do, with one model for all of them
            (`joint`) those of the one that can do the least.
        pause_s: How long a change pauses its topology, s (>= 0).
        region_period_s: Time between two rounds of hosts, s (> 0); at least what a host takes to start.
        release_lead_s: So long before the end of its paid time a host is judged at the latest, s (>= 0).
        operator: Further parameters of the managers of components. Repairs of the model-based one are on, but
            for a shared bound and levels of what is expected; `steps` is 3, and `learning_rate` 0.03.
        region: Further parameters of the manager of hosts; `weights` of the model-based one: 0.7, 0.2, 0.1.
        application: Parameters of the application manager (`ApplicationParameters`), one for all topologies.
    """

    operators: str = "model-based"
    hosts: str = "idle-pool"
    response_max_ms: float | Mapping[str, float] | None = None
    rate_max: float | Mapping[str, float] | None = None
    pause_s: float = 30.0
    region_period_s: float = 120.0
    release_lead_s: float = 0.0
    operator: Mapping[str, Any] = field(default_factory=dict)
    region: Mapping[str, Any] = field(default_factory=dict)
    application: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("operators", self.operators, tuple(OPERATOR_MANAGERS))
        one_of("hosts", self.hosts, tuple(REGION_MANAGERS))
        number("decide_interval_s", self.decide_interval_s, above=0.0)
        number("pause_s", self.pause_s)
        number("region_period_s", self.region_period_s, above=0.0)
        number("release_lead_s", self.release_lead_s)
        # what no service time could mend is refused before any is known
        fast = {
            topology: Basis(tuple(PartBasis(each.name, _FAST_MS, 1.0) for each in own), {})
            for topology, own in self.by_topology().items()
        }
        self.layers(fast)

    def by_topology(self) -> Mapping[str, tuple[Component, ...]]:
        """Return the components of each topology."""
        found: dict[str, list[Component]] = defaultdict(list)
        for each in self.components:
            found[topology_of(each.name)].append(each)
        return {topology: tuple(own) for topology, own in found.items()}

    def stated(self, topology: str) -> Mapping[str, Any]:
        """Return what is stated of the managers of a topology, which estimates depend on."""
        bound_ms, rate_max = self.bound_ms(topology), self._of("rate_max", self.rate_max, topology)
        return {"response_max_ms": bound_ms, "rate_max": rate_max, "operator": dict(self.operator)}

    def bound_ms(self, topology: str) -> float:
        """Return the bound of a topology, ms.

        Raises:
            ModelError: It is not stated, or is no number > 0.
        """
        bound_ms = self._of("response_max_ms", self.response_max_ms, topology)
        if bound_ms is None:
            of = f".{topology}" if isinstance(self.response_max_ms, Mapping) else ""
            raise ModelError(f"response_max_ms{of}", "missing")
        return bound_ms

    @staticmethod
    def _of(key: str, stated: object, topology: str) -> float | None:
        value = stated.get(topology) if isinstance(stated, Mapping) else stated
        return None if value is None else number(key, value, above=0.0)

    def layers(self, bases: Mapping[str, Basis]) -> LayersParameters:
        """Return both layers with their managers; components without a basis stay as they are.

        Args:
            bases: By topology.

        Raises:
            ModelError: A parameter is refused, or a bound is below what components take without load.
        """
        operators: list[Operator] = []
        for topology, own in self.by_topology().items():
            operators += self._operators(topology, own, bases.get(topology))
        return LayersParameters(
            operators=tuple(operators),
            regions={POOL: Region(self.offer, self._region())},
            application=manager_from(ApplicationParameters, "application", self.application, {}, ()),
            period_s=self.decide_interval_s,
            region_period_s=self.region_period_s,
            release_lead_s=self.release_lead_s + self.region_period_s,
        )

    def _operators(
        self, topology: str, components: tuple[Component, ...], basis: Basis | None
    ) -> list[Operator]:
        bound_ms = self.bound_ms(topology)
        if basis is None:
            return [Operator(each, POOL, bound_ms) for each in components]
        alone_ms = sum(each.service_ms for each in basis.parts)
        if alone_ms >= bound_ms:
            why = f"expected more than {alone_ms:.4g}, which items of {topology} take where nothing waits"
            raise ModelError("response_max_ms", f"{why}, got {bound_ms:g}")
        by_name = {each.name: each for each in components}
        path = Path(tuple(_part(by_name[each.component], each) for each in basis.parts), bound_ms)
        bounds = bounds_ms(bound_ms, 0.0, [each.service_rate for each in path.parts])
        found = {
            part.component: Operator(
                by_name[part.component], POOL, own_ms, self._manager(part, path, own_ms), self.pause_s
            )
            for part, own_ms in zip(path.parts, bounds, strict=True)
        }
        return [found.get(each.name) or Operator(each, POOL, bound_ms) for each in components]

    def _manager(self, part: PathPart, path: Path, own_ms: float) -> OperatorParameters:
        kind = OPERATOR_MANAGERS[self.operators]
        given: dict[str, Any] = {"sample_age_max_s": self.sample_age_max_s}
        if kind in {ThresholdParameters, ModelBasedParameters}:
            given |= {
                "executors_max": part.executors_max,
                "executors_min": part.executors_min,
                "tasks": part.tasks,
            }
        if kind is not ThresholdParameters:
            given |= {"path": path, "pause_s": self.pause_s, "period_s": self.decide_interval_s}
        if kind is ModelBasedParameters:
            most = self._of("rate_max", self.rate_max, topology_of(part.component))
            # one model for all parts needs one rate: that which all of them carry
            if most is None and isinstance(self.operator, Mapping) and self.operator.get("joint"):
                most = path.capacity([each.executors_max for each in path.parts])
            given |= {
                **_REPAIRED,
                "rate_max": part.served(part.executors_max) if most is None else most * part.per_item,
                "response_max_ms": own_ms,
                "service_rate": part.service_rate,
                "component": part.component,
            }
        try:
            made: OperatorParameters = manager_from(kind, "operator", self.operator, given, _FOLLOWING)
        except ModelError as error:
            raise ModelError(error.where, f"{error.message} (of {part.component})") from error
        return made

    def _region(self) -> RegionParameters:
        kind = REGION_MANAGERS[self.hosts]
        most = self.hosts_max
        if most is None:
            if kind is not IdlePoolParameters:
                raise ModelError("hosts_max", f"missing, which hosts = {shown(self.hosts)} needs")
            most = _NO_LIMIT
        given: dict[str, Any] = {
            "hosts_max": most,
            "hosts_min": self.hosts_min,
            "sample_age_max_s": self.region_period_s,
        }
        if kind is RegionModelParameters:
            # without a price on moves its policy starts and stops hosts all day
            given["weights"] = RegionWeights(demand=0.7, resources=0.2, host_moves=0.1)
        made: RegionParameters = manager_from(kind, "region", self.region, given, _FOLLOWING)
        return made


def _part(component: Component, basis: PartBasis) -> PathPart:
    if component.most is None:
        raise ModelError(component.name, "expected a largest number of executors, got none")
    return PathPart(
        component.name,
        basis.per_item,
        1000.0 / basis.service_ms,
        component.most,
        component.least,
        component.tasks,
    )
