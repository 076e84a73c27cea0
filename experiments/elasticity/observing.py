"""What a policy sees of a run: as much as could be measured, and nothing of what is to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.operator_manager.sample import OperatorSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.policy import Moment
    from experiments.elasticity.queues import Queue, Queues
    from experiments.elasticity.scenario import Scenario

_DIFFERENT = 4096
"""Recorded items after which durations repeat."""
_REMEMBERED = 20
"""Recorded durations that are handed on; policies take fewer."""
_BACK = np.arange(1 - _REMEMBERED, 1)
_LONGEST_MS = 1e7
"""Response times that are longer, or have no end, count as this."""


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
    _slo_ms: Floats = field(init=False)
    _spread: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._demand = self.scenario.demand_per_s()
        self._chance = np.random.default_rng((self.seed, 1))
        self._normal = np.random.default_rng((self.seed, 2)).standard_normal(_DIFFERENT)
        # of each queue, beside their records
        self._slo_ms = np.array([[each.slo_ms] for each in self.queues.order])
        self._spread = np.array([[each.duration_sigma] for each in self.queues.order])

    def time_s(self, step: int) -> float:
        """Return the time once so many steps have passed, s."""
        return step * self.scenario.step_s

    def observation(self, fleet: Fleet, now: Moment) -> Observation:
        """Return what is known to a policy by one decision.

        Args:
            fleet: The hosts.
            now: When it is asked.
        """
        now_s = self.time_s(now.step)
        load, durations_ms = self._load(now), self._durations_ms(now.step)
        waiting = dict(zip(self.queues.by_name, self.queues.backlogs(now.step).tolist(), strict=True))
        readings = tuple(
            ComponentReading(
                each.name,
                durations_ms[each.name],
                waiting=waiting[each.name],
                in_service=self._in_service(self.queues.by_name[each.name], now.step),
                demand_per_s=load * self._demand[each.name],
                service_ms=each.service_ms,
            )
            for each in self.scenario.component
        )
        return Observation(now_s, fleet.seen(now_s), readings)

    def samples(self, fleets: Mapping[str, Fleet], now: Moment) -> dict[str, OperatorSample]:
        """Return what is known to managers of components, of the time since they were asked last.

        Args:
            fleets: The hosts by region.
            now: When they are asked.
        """
        since_s, load = self.time_s(now.before), self._load(now)
        # what was decided at the last moment has stood still after it
        paused = any(fleet.paused_since(since_s) for fleet in fleets.values())
        executors = {name: n for fleet in fleets.values() for name, n in fleet.executors().items()}
        samples, until_s = {}, self.time_s(now.step)
        times_ms = np.minimum(self.queues.times_ms(slice(now.before, now.step)), _LONGEST_MS)
        *own_ms, path_ms = (np.add.reduce(times_ms, axis=1) / (now.step - now.before)).tolist()
        bound_ms = self.scenario.response_max_ms
        application_load = None if bound_ms is None else path_ms / bound_ms
        done = (self.queues.done(now.step) - self.queues.done(now.before)).tolist()
        backlogs = self.queues.backlogs(now.before).tolist()
        for each, own, items, backlog in zip(self.queues.order, own_ms, done, backlogs, strict=True):
            running = executors[each.name]
            # a pause counts as idle
            busy = min(1.0, items * each.service_ms / 1000.0 / (running * (until_s - since_s)))
            samples[each.name] = OperatorSample(
                each.name,
                since_s,
                until_s,
                running,
                load * self._demand[each.name],
                (busy,) * running,
                own,
                paused,
                backlog=backlog,
                application_load=application_load,
            )
        return samples

    def _load(self, now: Moment) -> float:
        return float(self.queues.load[now.before : now.step].mean())

    def _durations_ms(self, step: int) -> dict[str, tuple[float, ...]]:
        """Return the last recorded durations, ms, by component: of every so many-th item."""
        every = self.scenario.sample_every
        last = (self.queues.done(step) // every).astype(np.int64)
        # those of 0 and less are none, and are left out in the end
        records = last[:, None] + _BACK
        waited = self.queues.waited(step, np.maximum(0.0, records * float(every)))
        # the same item has the same duration whenever it is looked at, and under every policy
        chance = self._normal[records % _DIFFERENT]
        alone_ms = self._slo_ms * np.exp(self._spread * chance - self._spread**2 / 2.0)
        durations_ms = (alone_ms + waited * (self.scenario.step_s * 1000.0)).tolist()
        of_each = zip(self.queues.by_name, last.tolist(), durations_ms, strict=True)
        return {name: tuple(each[max(0, _REMEMBERED - count) :]) for name, count, each in of_each}

    def _in_service(self, queue: Queue, step: int) -> float:
        """Return what a broker counts beside the backlog: what is left of the items of the last step.

        Sources send the items of a step at once; when in the step they are counted is chance.
        """
        came = float(queue.came[step] - queue.came[step - 1])
        return max(0.0, came - float(queue.capacity[step - 1]) * float(self._chance.random()))
