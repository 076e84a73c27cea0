"""What a policy of executors and hosts is told in a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.base.checks import ModelError, number, numbers, shown, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Host

QueueReading = Literal["waiting", "in-system"]
"""What counts as queued: items that wait, or those in service too, as a message broker reports them."""


@dataclass(frozen=True)
class ComponentReading:
    """What was measured of a component.

    Attributes:
        component: Its name.
        durations_ms: o_d1..o_dN, (n,) last times from entering the queue to the end of processing, ms, the
            oldest first; empty where nothing has been processed yet, which is not a duration of 0.
        waiting: Items that wait (>= 0), those that still are at the source included.
        in_service: Items that are being processed (>= 0).
        age_s: How long ago it was measured, s (>= 0).
        demand_per_s: Items per second that would come to it if no component before it held any up, what
            waits at the source included (>= 0); None: unknown.
        service_ms: For so long an item occupies an executor, ms (> 0); None: unknown.
    """

    component: str
    durations_ms: tuple[float, ...]
    waiting: float
    in_service: float = 0.0
    age_s: float = 0.0
    demand_per_s: float | None = None
    service_ms: float | None = None

    def __post_init__(self) -> None:
        numbers("durations_ms", self.durations_ms)
        number("waiting", self.waiting)
        number("in_service", self.in_service)
        number("age_s", self.age_s)
        if self.demand_per_s is not None:
            number("demand_per_s", self.demand_per_s)
        if self.service_ms is not None:
            number("service_ms", self.service_ms, above=0.0)

    def queued(self, reading: QueueReading) -> float:
        """o_queue: how many items are queued."""
        return self.waiting + (self.in_service if reading == "in-system" else 0.0)


@dataclass(frozen=True)
class Observation:
    """What is known at the time of a decision.

    Attributes:
        now_s: Time of the decision, s, on the clock of `Host.paid_until_s`.
        hosts: All that are leased, the oldest lease first, with what was decided in earlier rounds.
        readings: Of components, in any order; what is missing is unknown, not 0.
    """

    now_s: float
    hosts: tuple[Host, ...]
    readings: tuple[ComponentReading, ...]

    def __post_init__(self) -> None:
        number("now_s", self.now_s)
        unique("hosts", (each.name for each in self.hosts))
        seen = [each.component for each in self.readings]
        for k, each in enumerate(seen):
            if each in seen[:k]:
                raise ModelError(f"readings[{k}].component", f"{shown(each)} is there twice")

    def check_names(self, components: Sequence[Component]) -> None:
        """Check that only known components are named.

        Raises:
            ModelError: A host or a reading names another one.
        """
        known = {each.name for each in components}
        for k, reading in enumerate(self.readings):
            if reading.component not in known:
                raise ModelError(
                    f"observation.readings[{k}].component", f"no component {shown(reading.component)}"
                )
        for k, host in enumerate(self.hosts):
            for each in host.executors:
                if each not in known:
                    raise ModelError(f"observation.hosts[{k}].executors", f"no component {shown(each)}")
