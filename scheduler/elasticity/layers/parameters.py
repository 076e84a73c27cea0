"""Parameters of both layers: components, sites, and their managers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, number, shown
from scheduler.elasticity.application_manager.granting import ApplicationParameters
from scheduler.elasticity.infrastructure_manager.granting import InfrastructureParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.layers.managers_of import OperatorParameters, RegionParameters
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Offer


@dataclass(frozen=True)
class Region:
    """A site whose hosts come and go.

    Attributes:
        offer: What is leased there.
        manager: Parameters of its manager; None: its hosts stay as they are.
    """

    offer: Offer
    manager: RegionParameters | None = None


@dataclass(frozen=True)
class Operator:
    """A component with its manager.

    Attributes:
        component: The component.
        region: Site of its executors, which they do not leave.
        bound_ms: R_max,op, bound on the mean time in it, ms (> 0).
        manager: Parameters of its manager; None: its executors stay as they are.
        pause_s: How long a change is predicted to pause it, s (>= 0).
    """

    component: Component
    region: str
    bound_ms: float
    manager: OperatorParameters | None = None
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        number("bound_ms", self.bound_ms, above=0.0)
        number("pause_s", self.pause_s)


@dataclass(frozen=True, kw_only=True)
class LayersParameters:
    """All managers.

    Attributes:
        operators: Components with their managers.
        regions: Sites by name.
        application: Of the application manager.
        infrastructure: Of the infrastructure manager.
        period_s: Time between two rounds of operators, s (> 0).
        region_period_s: Time between two rounds of regions, s (> 0); at least what a host takes to start, or
            the model of a region takes hosts for up that are not.
        release_lead_s: Idle hosts go at the end of their paid time, which is decided so long before it at the
            earliest, s (>= 0); None: at once (the paper).

    Raises:
        ModelError: An operator names a region that is not there, or pauses longer than may be spent at once.
    """

    operators: tuple[Operator, ...]
    regions: Mapping[str, Region]
    application: ApplicationParameters = field(default_factory=ApplicationParameters)
    infrastructure: InfrastructureParameters = field(default_factory=InfrastructureParameters)
    period_s: float = 60.0
    region_period_s: float = 120.0
    release_lead_s: float | None = None

    def __post_init__(self) -> None:
        number("period_s", self.period_s, above=0.0)
        number("region_period_s", self.region_period_s, above=0.0)
        if self.release_lead_s is not None:
            number("release_lead_s", self.release_lead_s)
        for k, each in enumerate(self.operators):
            if each.region not in self.regions:
                raise ModelError(f"operators[{k}].region", f"there is no region {shown(each.region)}")
        pauses = self.application.pauses
        longest_s = max((each.pause_s for each in self.operators if each.manager is not None), default=0.0)
        if pauses is not None and pauses.most < longest_s:
            why = "the longest pause of a change, or what pauses so long is never changed"
            expected = f"expected at least {longest_s:g}, {why}, got {pauses.most:g}"
            raise ModelError("application.pauses.most", expected)

    def of_region(self, region: str) -> tuple[Operator, ...]:
        """Return the operators of a region."""
        return tuple(each for each in self.operators if each.region == region)
