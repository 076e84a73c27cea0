"""What a scenario file says: components and their flows, loads, hosts on offer, what lateness costs."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, model_validator

from bridge.settings_section import Section
from experiments.elasticity.loads import Load  # noqa: TC001 - pydantic reads the annotations

Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0)]


class SimulatedComponent(Section):
    """A component."""

    name: Annotated[str, Field(min_length=1)]
    slo_ms: PositiveFloat
    """Mean time from entering the queue to the end of processing where nothing waits, ms."""
    cpu: PositiveFloat
    """Guaranteed CPU of one executor, in the unit of the offers."""
    memory_mb: PositiveFloat
    """Guaranteed memory of one executor, MB."""
    service_ms: PositiveFloat
    """For so long an item occupies an executor, ms; the rest of its duration is spent on messages."""
    duration_sigma: NotNegative = 0.0
    """Of the logarithm of durations where nothing waits; their mean is `slo_ms`."""
    source_per_s: NotNegative = 0.0
    """Items per second that come from outside for one unit of load."""
    inputs: dict[str, PositiveFloat] = Field(default_factory=dict)
    """Items per item that another component has processed, by its name."""
    least: Annotated[int, Field(ge=1)] = 1
    """Executors that it never falls below."""
    most: Annotated[int, Field(ge=1)] | None = None
    """Executors that it never exceeds."""
    region: str = ""
    """Site of its executors; counts under policies that know sites."""
    delay_ms: NotNegative = 0.0
    """Delay of the network on the way to it, ms."""


class SimulatedOffer(Section):
    """A kind of host on offer."""

    cpu: PositiveFloat
    """CPU of a host, in any unit."""
    memory_mb: PositiveFloat
    """Memory of a host, MB."""
    billing_unit_s: PositiveFloat
    """What has been started of one is paid whole, s."""
    unit_cost: NotNegative = 1.0
    """Of a billing unit, in any currency."""
    boot_s: NotNegative = 45.0
    """From the request until the host is up, s."""


class Disturbance(Section):
    """What slows hosts down from outside."""

    per_minute: Share = 0.0
    """How likely a host is disturbed in a minute."""
    lasts_s: Annotated[float, Field(gt=0, le=60)] = 20.0
    """For how long from the minute's beginning, s."""
    speed: Share = 0.5
    """Share of its speed that is left."""


class Scenario(Section):
    """A scenario."""

    step_s: Annotated[float, Field(gt=0, le=60)] = 0.5
    """Grain of time, s."""
    duration_min: Annotated[float, Field(gt=0, le=60 * 24 * 60)]
    """Length of a run, min."""
    counted_from_min: NotNegative = 0.0
    """What is before counts only for what policies learn, min."""
    response_max_ms: PositiveFloat | None = None
    """Bound on the response time along the longest path, ms."""
    monitor_interval_s: PositiveFloat = 15.0
    """Time from one call of the policy to the next, s; a multiple of the step but for rounding."""
    late_factors: Annotated[tuple[PositiveFloat, ...], Field(min_length=1, strict=False)] = (1.0, 2.0, 5.0)
    """An item is late once its duration exceeds so many times its `slo_ms`; the outcome has each of them."""
    late_penalty: NotNegative = 0.0001
    """Cost of a late item, in the currency of the offers; also the `penalty` of policies that state none."""
    start_s: NotNegative = 10.0
    """From the decision until an executor runs on a host that is up, s."""
    start_cached_s: NotNegative = 5.0
    """The same on a host where its component has run before, s."""
    pause_s: NotNegative = 0.0
    """For so long a component stands still whose executors change, s."""
    bill_from: Literal["ready", "request"] = "ready"
    """When the first billing unit of a host begins."""
    sample_every: Annotated[int, Field(ge=1)] = 10
    """Every so many-th item's duration is recorded."""
    disturbance: Disturbance = Disturbance()
    component: Annotated[tuple[SimulatedComponent, ...], Field(strict=False)]
    offer: Annotated[dict[str, SimulatedOffer], Field(min_length=1)]
    """Kinds of hosts by name; a run takes one of them."""
    load: Annotated[dict[str, Load], Field(min_length=1)]
    """Loads by name; a run takes one of them."""
    policy: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Parameters of policies by name."""

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        names = [each.name for each in self.component]
        for k, each in enumerate(self.component):
            if each.name in names[:k]:
                raise ValueError(f'component[{k}].name: "{each.name}" is there twice')
            for other in each.inputs:
                if other not in names:
                    raise ValueError(f'component[{k}].inputs: there is no component "{other}"')
            if each.most is not None and each.most < each.least:
                raise ValueError(f"component[{k}].most: must be >= least ({each.least}), got {each.most}")
        _ = self.order
        if self.counted_from_min >= self.duration_min:
            length, begin = self.duration_min, self.counted_from_min
            raise ValueError(f"counted_from_min: must be < duration_min ({length:g}), got {begin:g}")
        if not any(each.source_per_s for each in self.component):
            raise ValueError("component: none has source_per_s > 0, so that there is no load")
        return self

    @property
    def order(self) -> tuple[SimulatedComponent, ...]:
        """The components, each after those from which it receives.

        Raises:
            ValueError: They go round in a circle.
        """
        by_name = {each.name: each for each in self.component}
        try:
            order = TopologicalSorter({each.name: each.inputs for each in self.component}).static_order()
            return tuple(by_name[name] for name in order)
        except CycleError as error:
            circle = " -> ".join(reversed(error.args[1]))
            raise ValueError(f"component: items go round in a circle, {circle}") from None

    @property
    def steps(self) -> int:
        """Length of a run in steps."""
        return max(1, round(self.duration_min * 60.0 / self.step_s))

    @property
    def counted_from(self) -> int:
        """First step that counts."""
        return min(self.steps - 1, round(self.counted_from_min * 60.0 / self.step_s))

    def demand_per_s(self) -> dict[str, float]:
        """Return how many items per second come to each component for one unit of load if none waits."""
        demand: dict[str, float] = {}
        for each in self.order:
            handed_on = sum(ratio * demand[other] for other, ratio in each.inputs.items())
            demand[each.name] = each.source_per_s + handed_on
        return demand
