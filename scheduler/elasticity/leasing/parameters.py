"""What policies of executors and hosts have in common to be told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from scheduler.base.checks import ModelError, number, one_of, unique, whole_number
from scheduler.elasticity.leasing.observation import QueueReading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Offer


@dataclass(frozen=True, kw_only=True)
class LeasingParameters:
    """What is scaled, what can be leased, and when readings count.

    Attributes:
        components: What is scaled, in the order in which they are looked at.
        offer: What is leased.
        decide_interval_s: Least time between two rounds in which components grow or shrink, s (>= 0). Paper
            003: 60 s. Ends of billing units are looked at whenever a policy is asked.
        queue_reading: What counts as queued.
        queue_up: Items above which a queue asks for one executor more (>= 0).
        queue_down: Items below which a queue is as good as empty (>= 0).
        sample_age_max_s: Age above which a reading decides nothing, s (> 0).
        hosts_min: Hosts that are always kept (>= 1).
        hosts_max: Hosts that are never exceeded (>= hosts_min); None: no limit.

    Raises:
        ModelError: A value is out of its bounds, or an executor fits on no host of the offer.
    """

    components: tuple[Component, ...]
    offer: Offer
    decide_interval_s: float = 60.0
    queue_reading: QueueReading = "waiting"
    queue_up: float = 50.0
    queue_down: float = 1.0
    sample_age_max_s: float = 120.0
    hosts_min: int = 1
    hosts_max: int | None = None

    def __post_init__(self) -> None:
        unique("components", (each.name for each in self.components))
        for k, each in enumerate(self.components):
            _check_fits(f"components[{k}]", each, self.offer)
        number("decide_interval_s", self.decide_interval_s)
        one_of("queue_reading", self.queue_reading, get_args(QueueReading))
        number("queue_up", self.queue_up)
        number("queue_down", self.queue_down)
        if self.queue_down > self.queue_up:
            raise ModelError(
                "queue_down", f"expected at most queue_up ({self.queue_up:g}), got {self.queue_down:g}"
            )
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)
        whole_number("hosts_min", self.hosts_min, 1)
        if self.hosts_max is not None:
            whole_number("hosts_max", self.hosts_max, self.hosts_min)

    @cached_property
    def by_name(self) -> Mapping[str, Component]:
        """The components by their names."""
        return {each.name: each for each in self.components}


def _check_fits(where: str, component: Component, offer: Offer) -> None:
    for field, needed, there in (
        ("cpu", component.cpu, offer.cpu),
        ("memory_mb", component.memory_mb, offer.memory_mb),
    ):
        if needed > there:
            raise ModelError(
                f"{where}.{field}", f"an executor needs {needed:g}, but a host of the offer has {there:g}"
            )
