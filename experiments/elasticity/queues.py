"""Queues of components in a run: how many items have come and have been processed by the end of each step.

Items flow like a fluid, first come first served. All that happened is kept, so that how long items waited
follows exactly from when as many items had come, whatever was changed in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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

    def waited(self, counts: Floats) -> Floats:
        """Return how many steps the items of some counts (n,) waited, which have been processed."""
        ends = slice(self.steps + 1)
        return np.maximum(0.0, _reached(self.processed[ends], counts) - _reached(self.came[ends], counts))

    def waits(self) -> Floats:
        """Return how many steps the items waited that were processed in each step, on average (steps,)."""
        middle = (self.processed[1 : self.steps + 1] + self.processed[: self.steps]) / 2.0
        came_at = _reached(self.came[: self.steps + 1], middle)
        return np.maximum(0.0, np.arange(self.steps) + 0.5 - came_at)


@dataclass
class Queues:
    """The queues of all components of a run.

    Attributes:
        scenario: The scenario.
        load: (steps,) units of load in each step.
        by_name: Queues by component, each after those from which it receives.
    """

    scenario: Scenario
    load: Floats
    by_name: dict[str, Queue] = field(init=False)
    _order: tuple[SimulatedComponent, ...] = field(init=False)
    _came: Floats = field(init=False)
    _processed: Floats = field(init=False)
    _capacity: Floats = field(init=False)
    _service_ms: Floats = field(init=False)

    def __post_init__(self) -> None:
        # queues are rows of tables, so that times in all of them are worked out at once
        self._order, steps = self.scenario.order, len(self.load)
        self._came, self._processed = np.zeros((2, len(self._order), steps + 1))
        self._capacity = np.zeros((len(self._order), steps))
        self._service_ms = np.array([each.service_ms for each in self._order])[:, None]
        rows = zip(self._order, self._came, self._processed, self._capacity, strict=True)
        self.by_name = {each.name: Queue(came, processed, could) for each, came, processed, could in rows}

    def step(self, begin: int, end: int, executors: dict[str, Floats]) -> None:
        """Let steps pass from `begin` to before `end`.

        Args:
            begin: First step.
            end: The one after the last.
            executors: (end - begin,) executors of each component that work in each step, in executors at full
                speed.
        """
        step_s = self.scenario.step_s
        processed: dict[str, Floats] = {}
        for each in self._order:
            arrivals = self.load[begin:end] * (each.source_per_s * step_s)
            for other, ratio in each.inputs.items():
                arrivals = arrivals + ratio * processed[other]
            capacity = executors[each.name] * (step_s * 1000.0 / each.service_ms)
            processed[each.name] = self.by_name[each.name].step(arrivals, capacity)

    def own_ms(self, steps: slice) -> Floats:
        """Return the mean time in each component (of `by_name`) in some steps (components, n), ms.

        Executors are equal queues (M/M/1) with an equal part of what comes; what has piled up waits before.
        It is infinite where nothing is processed.

        Args:
            steps: Which have passed.
        """
        could = self._capacity[:, steps]
        ends = slice(steps.start + 1, steps.stop + 1)
        until = self._came[:, ends]
        came, waiting = until - self._came[:, steps], until - self._processed[:, ends]
        with np.errstate(divide="ignore", invalid="ignore"):
            wait_ms = np.where(could > 0.0, waiting / could * (self.scenario.step_s * 1000.0), np.inf)
            load = np.where(could > 0.0, came / could, np.inf)
            # where executors cannot keep up, items that do not wait take as long as alone
            alone = np.where(load < 1.0, self._service_ms / (1.0 - load), self._service_ms)
        response: Floats = wait_ms + alone
        return response

    def responses_ms(self) -> Floats:
        """Return the response time along the longest path in each step (steps,), ms."""
        return self.times_ms(slice(0, len(self.load)))[1]

    def times_ms(self, steps: slice) -> tuple[dict[str, Floats], Floats]:
        """Return the mean time in each component in some steps (n,), and along the longest path (n,), ms.

        Args:
            steps: Which have passed.
        """
        longest: Floats = np.zeros(steps.stop - steps.start)
        own = dict(zip(self.by_name, self.own_ms(steps), strict=True))
        until: dict[str, Floats] = {}
        for each in self._order:
            before: Floats | float = 0.0
            for other in each.inputs:
                before = np.maximum(before, until[other])
            until[each.name] = own[each.name] + each.delay_ms + before
            longest = np.maximum(longest, until[each.name])
        return own, longest

    def late(self, factor: float) -> dict[str, Floats]:
        """Return how many of the items processed in each step were late (steps,), by component.

        Durations where nothing waits are lognormal, so that what is counted is an expectation.

        Args:
            factor: An item is late once its duration exceeds so many times what is agreed.
        """
        late = {}
        for each in self.scenario.order:
            queue = self.by_name[each.name]
            left_ms = factor * each.slo_ms - queue.waits() * (self.scenario.step_s * 1000.0)
            late[each.name] = np.diff(queue.processed[: queue.steps + 1]) * exceeds(
                left_ms, each.slo_ms, each.duration_sigma
            )
        return late


def _reached(total: Floats, counts: Floats) -> Floats:
    """Return in which step a total first reached each count (n,), as a fraction; it grows evenly in a step.

    Args:
        total: (steps + 1,) what there was by the end of each step, from 0 on.
        counts: (n,) counts that it has reached.
    """
    at = np.maximum(np.searchsorted(total, counts, side="left"), 1)
    before = total[at - 1]
    gap = total[at] - before
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
