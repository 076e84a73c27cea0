"""What a policy is told in a run: as much as could be measured, and nothing of what is to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.observation import ComponentReading, Observation

if TYPE_CHECKING:
    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.queues import Queue, Queues
    from experiments.elasticity.scenario import Scenario, SimulatedComponent

_DIFFERENT = 4096
"""Recorded items after which durations repeat."""
_REMEMBERED = 20
"""Recorded durations that are handed on; policies take fewer."""


@dataclass
class Observer:
    """Measures a run.

    Attributes:
        scenario: The scenario.
        queues: Its queues.
        seed: Of durations and of the phase at which queues are looked at; the same for every policy.
    """

    scenario: Scenario
    queues: Queues
    seed: int
    _demand: dict[str, float] = field(init=False)
    _chance: np.random.Generator = field(init=False)
    _normal: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._demand = self.scenario.demand_per_s()
        self._chance = np.random.default_rng((self.seed, 1))
        self._normal = np.random.default_rng((self.seed, 2)).standard_normal(_DIFFERENT)

    def observation(self, fleet: Fleet, step: int, before: int) -> Observation:
        """Return what is known at a step.

        Args:
            fleet: The hosts.
            step: How many steps have passed.
            before: How many had at the last observation.
        """
        now_s = step * self.scenario.step_s
        load = float(self.queues.load[before:step].mean()) if step > before else None
        readings = tuple(self._reading(each, step, load) for each in self.scenario.component)
        return Observation(now_s, fleet.seen(now_s), readings)

    def _reading(self, component: SimulatedComponent, step: int, load: float | None) -> ComponentReading:
        queue = self.queues.by_name[component.name]
        return ComponentReading(
            component.name,
            self._durations_ms(component, queue),
            waiting=queue.backlog,
            in_service=self._in_service(queue, step),
            demand_per_s=None if load is None else load * self._demand[component.name],
            service_ms=component.service_ms,
        )

    def _durations_ms(self, component: SimulatedComponent, queue: Queue) -> tuple[float, ...]:
        """Return the last recorded durations, ms: of every so many-th item, the oldest first."""
        every = self.scenario.sample_every
        last = int(queue.processed[queue.steps] // every)
        numbers = np.arange(max(1, last - _REMEMBERED + 1), last + 1, dtype=np.float64) * every
        if not len(numbers):
            return ()
        waited = np.maximum(0.0, queue.processed_at(numbers) - queue.came_at(numbers))
        spread = component.duration_sigma
        if spread:
            # the same item has the same duration whenever it is looked at, and under every policy
            chance = self._normal[(numbers // every).astype(np.int64) % _DIFFERENT]
            alone = component.slo_ms * np.exp(spread * chance - spread**2 / 2.0)
        else:
            alone = np.full(len(numbers), component.slo_ms)
        return tuple((alone + waited * (self.scenario.step_s * 1000.0)).tolist())

    def _in_service(self, queue: Queue, step: int) -> float:
        """Return what a broker counts beside the backlog: what is left of the items of the last step.

        Sources send the items of a step at once; when in the step they are counted is chance.
        """
        if not step:
            return 0.0
        came = float(queue.came[step] - queue.came[step - 1])
        return max(0.0, came - float(queue.capacity[step - 1]) * float(self._chance.random()))
