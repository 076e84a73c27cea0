"""Queues of components in a run: how many items have come and have been processed by the end of each step.

Items flow like a fluid, first come first served. All that happened is kept, so that how long items waited
follows exactly from when as many items had come, whatever was changed in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.scenario import Scenario, SimulatedComponent

_NORMAL_GRID = np.linspace(-8.0, 8.0, 4001)
_NORMAL = np.array([0.5 * (1.0 + math.erf(each / math.sqrt(2.0))) for each in _NORMAL_GRID])


@dataclass
class Queue:
    """The queue of one component; filled from step to step.

    Attributes:
        came: (steps + 1,) items that have come by the end of each step; of step k at k + 1.
        processed: (steps + 1,) items whose processing has ended.
        capacity: (steps,) items that could be processed in each step.
        steps: How many steps have passed.
    """

    came: Floats
    processed: Floats
    capacity: Floats
    steps: int = 0

    @property
    def backlog(self) -> float:
        """Items that have come and are not processed."""
        return float(self.came[self.steps] - self.processed[self.steps])

    def step(self, arrivals: Floats, capacity: Floats) -> Floats:
        """Let some steps pass.

        The backlog follows Lindley's recursion, solved for all steps at once.

        Args:
            arrivals: (n,) items that come in each step.
            capacity: (n,) items that could be processed in each step.

        Returns:
            (n,) items that are processed in each step.
        """
        begin, end = self.steps, self.steps + len(arrivals)
        before = self.backlog
        drift = (arrivals - capacity).cumsum()
        backlog = drift + np.maximum(before, -np.minimum.accumulate(drift))
        # rounding must not leave items that never come out
        backlog[backlog < 1e-9] = 0.0
        came = self.came[begin] + arrivals.cumsum()
        self.came[begin + 1 : end + 1] = came
        self.processed[begin + 1 : end + 1] = came - backlog
        self.capacity[begin:end] = capacity
        self.steps = end
        processed: Floats = self.processed[begin + 1 : end + 1] - self.processed[begin:end]
        return processed

    def waits(self) -> Floats:
        """Return how many steps the items waited that were processed in each step, on average (steps,)."""
        totals = np.array([self.came, self.processed])[:, : self.steps + 1]
        middle = (totals[1, 1:] + totals[1, :-1]) / 2.0
        waits: Floats = _waited(totals, middle[None])[0]
        return waits


@dataclass
class Queues:
    """The queues of all components of a run.

    Attributes:
        scenario: The scenario.
        load: (steps,) units of load in each step.
        by_name: Queues by component, each after those from which it receives.
        order: The components in this order.
    """

    scenario: Scenario
    load: Floats
    by_name: dict[str, Queue] = field(init=False)
    order: tuple[SimulatedComponent, ...] = field(init=False)
    _totals: Floats = field(init=False)
    _came: Floats = field(init=False)
    _processed: Floats = field(init=False)
    _capacity: Floats = field(init=False)
    _service_ms: Floats = field(init=False)
    _per_step: Floats = field(init=False)
    _sinks: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        # queues are rows of tables, so that times in all of them are worked out at once
        self.order, steps = self.scenario.order, len(self.load)
        self._totals = np.zeros((2 * len(self.order), steps + 1))
        self._came, self._processed = np.split(self._totals, 2)
        self._capacity = np.zeros((len(self.order), steps))
        self._service_ms = np.array([each.service_ms for each in self.order])[:, None]
        demand_per_s = self.scenario.demand_per_s()
        self._per_step = np.array([demand_per_s[each.name] for each in self.order])[:, None]
        self._per_step *= self.scenario.step_s
        sent_on = {name for each in self.order for name in each.inputs}
        self._sinks = tuple(each.name for each in self.order if each.name not in sent_on)
        rows = zip(self.order, self._came, self._processed, self._capacity, strict=True)
        self.by_name = {each.name: Queue(came, processed, could) for each, came, processed, could in rows}

    def step(self, begin: int, end: int, executors: dict[str, Floats]) -> None:
        """Let steps pass from `begin` to before `end`.

        Args:
            begin: First step.
            end: The one after the last.
            executors: (end - begin,) executors of each component that work in each step, in executors at full
                speed.
        """
        step_ms = self.scenario.step_s * 1000.0
        capacity = np.array([executors[name] for name in self.by_name]) * (step_ms / self._service_ms)
        demand = self.load[begin:end] * self._per_step
        if not np.count_nonzero(self.backlogs(begin)) and not np.count_nonzero(demand > capacity):
            self._keep_up(begin, end, demand, capacity)
            return
        processed: dict[str, Floats] = {}
        for each, could in zip(self.order, capacity, strict=True):
            arrivals = self.load[begin:end] * (each.source_per_s * self.scenario.step_s)
            for other, ratio in each.inputs.items():
                arrivals = arrivals + ratio * processed[other]
            processed[each.name] = self.by_name[each.name].step(arrivals, could)

    def _keep_up(self, begin: int, end: int, demand: Floats, capacity: Floats) -> None:
        """Let steps pass in which nothing waits anywhere; of all components at once."""
        came = self._came[:, begin, None] + demand.cumsum(axis=1)
        self._came[:, begin + 1 : end + 1] = self._processed[:, begin + 1 : end + 1] = came
        self._capacity[:, begin:end] = capacity
        for queue in self.by_name.values():
            queue.steps = end

    def done(self, step: int) -> Floats:
        """Return how many items of each component (of `by_name`) are processed after so many steps."""
        done: Floats = self._processed[:, step]
        return done

    def backlogs(self, step: int) -> Floats:
        """Return how many items of each component (of `by_name`) wait after so many steps."""
        waiting: Floats = self._came[:, step] - self._processed[:, step]
        return waiting

    def waited(self, step: int, counts: Floats) -> Floats:
        """Return how many steps some items waited, by component (of `by_name`); (components, n).

        Args:
            step: After how many steps.
            counts: (components, n) which items, by how many had come with them; processed by then, or none.
        """
        return _waited(self._totals[:, : step + 1], counts)

    def own_ms(self, steps: slice) -> Floats:
        """Return the mean time in each component (of `by_name`) in some steps (components, n), ms.

        Executors are equal queues (M/M/1) with an equal part of what comes; what has piled up waits before.
        It is infinite where nothing is processed.

        Args:
            steps: Which have passed.
        """
        ends = slice(steps.start + 1, steps.stop + 1)
        works = self._capacity[:, steps] > 0.0
        could = np.where(works, self._capacity[:, steps], np.nan)
        until = self._came[:, ends]
        wait_ms = (until - self._processed[:, ends]) / could * (self.scenario.step_s * 1000.0)
        load = (until - self._came[:, steps]) / could
        # where executors cannot keep up, items that do not wait take as long as alone
        alone = self._service_ms / np.where(load < 1.0, 1.0 - load, 1.0)
        response: Floats = np.where(works, wait_ms + alone, np.inf)
        return response

    def responses_ms(self) -> Floats:
        """Return the response time along the longest path in each step (steps,), ms."""
        return self._longest_ms(self.own_ms(slice(0, len(self.load))))

    def times_ms(self, steps: slice) -> Floats:
        """Return the mean time in each component (of `by_name`), then along the longest path, in some steps.

        Args:
            steps: Which have passed.

        Returns:
            (components + 1, n) times, ms.
        """
        own = self.own_ms(steps)
        return np.concatenate((own, self._longest_ms(own)[None]))

    def _longest_ms(self, own_ms: Floats) -> Floats:
        """Return the time along the longest path (n,), ms, by that in each component (components, n)."""
        until: dict[str, Floats] = {}
        for each, own in zip(self.order, own_ms, strict=True):
            until[each.name] = own + each.delay_ms
            if each.inputs:
                until[each.name] += reduce(np.maximum, (until[other] for other in each.inputs))
        longest: Floats = reduce(np.maximum, (until[name] for name in self._sinks))
        return longest

    def late(self, factor: float) -> dict[str, Floats]:
        """Return how many of the items processed in each step were late (steps,), by component.

        Durations where nothing waits are lognormal, so that what is counted is an expectation.

        Args:
            factor: An item is late once its duration exceeds so many times what is agreed.
        """
        late = {}
        for each in self.order:
            queue = self.by_name[each.name]
            left_ms = factor * each.slo_ms - queue.waits() * (self.scenario.step_s * 1000.0)
            late[each.name] = np.diff(queue.processed[: queue.steps + 1]) * exceeds(
                left_ms, each.slo_ms, each.duration_sigma
            )
        return late


def _waited(totals: Floats, counts: Floats) -> Floats:
    """Return how many steps items waited (m, n); exactly none where as many had come as were processed.

    Args:
        totals: (2 m, steps + 1) how many have come to each queue by the end of each step, then processed.
        counts: (m, n) which items, by how many had come with them.
    """
    reached = _reached(totals, np.concatenate((counts, counts)))
    return np.maximum(0.0, reached[len(counts) :] - reached[: len(counts)])


def _reached(totals: Floats, counts: Floats) -> Floats:
    """Return in which step totals first reached counts (m, n), as a fraction; they grow evenly in a step.

    Args:
        totals: (m, steps + 1) what there was by the end of each step, from 0 on.
        counts: (m, n) counts that each has reached.
    """
    found = [total.searchsorted(some) for total, some in zip(totals, counts, strict=True)]
    # the middle of two totals that differ by rounding may be above the last one
    at = np.minimum(np.maximum(found, 1), totals.shape[1] - 1)
    rows = np.arange(len(totals))[:, None]
    before = totals[rows, at - 1]
    gap = totals[rows, at] - before
    # a count of 0 may be reached in a step in which nothing comes
    part = np.divide(counts - before, gap, out=np.ones_like(counts), where=gap > 0.0)
    reached: Floats = at - 1 + part
    return reached


def exceeds(limits_ms: Floats, mean_ms: float, sigma: float) -> Floats:
    """Return how likely a duration where nothing waits exceeds each limit (n,).

    Args:
        limits_ms: (n,) limits, ms.
        mean_ms: Mean of the durations, ms (> 0).
        sigma: Standard deviation of their logarithms (>= 0).
    """
    if not sigma:
        return (limits_ms < mean_ms).astype(np.float64)
    some = np.maximum(limits_ms, 1e-9)
    z = (np.log(some / mean_ms) + sigma**2 / 2.0) / sigma
    return np.asarray(np.where(limits_ms <= 0.0, 1.0, 1.0 - np.interp(z, _NORMAL_GRID, _NORMAL)))
