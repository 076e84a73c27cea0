"""What can be leased, and what is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from scheduler.base.checks import ModelError, name, number, one_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.component import Component

HostStatus = Literal["booting", "ready", "leaving"]
"""A host that is leaving has been given back as of the end of its paid time and takes nothing any more."""


@dataclass(frozen=True)
class Offer:
    """A kind of host that a provider leases.

    Attributes:
        cpu: h_cpu, in the unit of the components (> 0).
        memory_mb: h_memory, MB (> 0).
        billing_unit_s: BTU, what a started one of is paid whole, s (> 0).
        unit_cost: h_cost, of one billing unit, in any currency (>= 0).
        boot_s: What a host takes until it is up, s (>= 0); None: unknown.
    """

    cpu: float
    memory_mb: float
    billing_unit_s: float
    unit_cost: float = 1.0
    boot_s: float | None = None

    def __post_init__(self) -> None:
        number("cpu", self.cpu, above=0.0)
        number("memory_mb", self.memory_mb, above=0.0)
        number("billing_unit_s", self.billing_unit_s, above=0.0)
        number("unit_cost", self.unit_cost)
        if self.boot_s is not None:
            number("boot_s", self.boot_s)


@dataclass(frozen=True)
class Host:
    """A leased host.

    Attributes:
        name: Of the host; before it is up, the identity of the request for its lease.
        cpu: h_cpu, in the unit of the components (> 0).
        memory_mb: h_memory, MB (> 0).
        paid_until_s: Time at which its paid time ends, s.
        executors: How many of each component run there, or will once all that was decided is carried out.
        images: h_img, components that start faster there, since they have run there before.
        status: Whether it is up already, and whether it is going.
    """

    name: str
    cpu: float
    memory_mb: float
    paid_until_s: float
    executors: Mapping[str, int] = field(default_factory=dict)
    images: frozenset[str] = frozenset()
    status: HostStatus = "ready"

    def __post_init__(self) -> None:
        name("name", self.name)
        number("cpu", self.cpu, above=0.0)
        number("memory_mb", self.memory_mb, above=0.0)
        number("paid_until_s", self.paid_until_s)
        one_of("status", self.status, get_args(HostStatus))
        for component, count in self.executors.items():
            whole_number(f"executors.{component}", count, 0)

    def free_cpu(self, components: Mapping[str, Component]) -> float:
        """h_cpu*: what no executor is guaranteed; may be negative where guarantees were raised."""
        return self.cpu - sum(components[each].cpu * count for each, count in self.executors.items())

    def free_memory_mb(self, components: Mapping[str, Component]) -> float:
        """h_memory*, MB: what no executor is guaranteed; may be negative where guarantees were raised."""
        used = sum(components[each].memory_mb * count for each, count in self.executors.items())
        return self.memory_mb - used

    def count(self, component: str) -> int:
        """Return how many executors of a component are there."""
        return self.executors.get(component, 0)

    def with_one_more(self, component: str) -> Host:
        """Return the host after an executor has started there, which leaves the component's image behind."""
        more = {**self.executors, component: self.count(component) + 1}
        return replace(self, executors=more, images=self.images | {component})

    def with_one_less(self, component: str) -> Host:
        """Return the host after an executor has stopped there.

        Raises:
            ModelError: None runs there.
        """
        left = self.count(component) - 1
        if left < 0:
            raise ModelError(f"executors.{component}", f"none of them is on the host {self.name}")
        rest = {each: count for each, count in self.executors.items() if each != component}
        return replace(self, executors={**rest, component: left} if left else rest)
