"""Keeps what tasks said of themselves: counters over a while, and the last value of everything else."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from provisioning.measuring.graphite import MetricLine

POPULATION = "receive-queue-population"
OVERFLOW = "receive-queue-overflow"
EXECUTED = "__execute-count-"
_OF_STORM = f"{EXECUTED}__"
"""Ticks and the like: a task that waits for items goes on taking them."""
EMITTED = "__emit-count-"
EXECUTE_MS = "__execute-latency-"
PROCESS_MS = "__process-latency-"
_COUNT = ".count"
"""Counters end so; the same with `.m1_rate` is a mean that outlives what it is a mean of."""
_LEAST_SHARE = 0.5
"""Of what is usual, from which on tasks are at work."""
_SPAN_S = 2.0
"""A rate over less is none, s."""
_EPSILON_S = 1e-9
_LEAST_COUNTED = 4.0
"""Items that are counted while work is looked for: of fewer, gaps between two say nothing."""
_WIDEST_S = 15.0
"""Where so many do not come within so long, pauses are not measured, s."""
_LATELY = 1.5
"""Times between two reports: within so long a task that works has reported."""
_Key: TypeAlias = tuple[int, str]
_Values: TypeAlias = deque[tuple[float, float]]
"""When each came, and what it was."""


def _is_work(metric: str) -> bool:
    return metric.startswith(EXECUTED) and not metric.startswith(_OF_STORM)


@dataclass(frozen=True)
class TaskReadings:
    """What the tasks of a topology said.

    Attributes:
        rates: (task, counter without its ending) -> per second over the window.
        values: (task, metric) -> last value.
        spoke_s: Task -> when it first and last said how long its queue is, s of the clock.
    """

    rates: Mapping[_Key, float]
    values: Mapping[_Key, float]
    spoke_s: Mapping[int, tuple[float, float]]


@dataclass
class _Topology:
    seen: dict[_Key, _Values] = field(default_factory=dict)
    watched: frozenset[int] = frozenset()
    usual_per_s: float = 0.0
    """What the watched tasks did when that began."""
    span_s: float = 0.0
    """Over so long work is looked for: the time between two reports then, or as long as a few items took."""
    lately: _Values = field(default_factory=deque)
    """What they did within so long."""
    worked_s: float | None = None
    """When they last said that they had done at least half of what is usual."""
    longest_s: float | None = None
    """The longest time between two such moments; None: there was one at most."""

    def between_s(self) -> float | None:
        """Return the time between two reports, s; None: none has reported twice."""
        gaps = [values[-1][0] - values[-2][0] for values in self.seen.values() if len(values) > 1]
        return median(gaps) if gaps else None

    def watch(self, tasks: Collection[int], sample_rate: float) -> None:
        self.watched, self.worked_s, self.longest_s = frozenset(tasks), None, None
        self.lately.clear()
        self.usual_per_s = sum(
            (values[-1][1] - values[0][1]) / (values[-1][0] - values[0][0])
            for (task, metric), values in self.seen.items()
            if task in self.watched and _is_work(metric) and values[-1][0] - values[0][0] >= _SPAN_S
        )
        counted_per_s = self.usual_per_s * sample_rate
        self.span_s = max(self.between_s() or 0.0, _LEAST_COUNTED / counted_per_s if counted_per_s else 0.0)

    def note(self, now_s: float, executed: float) -> None:
        if executed <= 0.0 or self.span_s > _WIDEST_S:
            return
        self.lately.append((now_s, executed))
        while now_s - self.lately[0][0] >= max(self.span_s, _EPSILON_S):
            self.lately.popleft()
        if sum(each for _, each in self.lately) < _LEAST_SHARE * self.usual_per_s * self.span_s:
            return
        if self.worked_s is not None:
            self.longest_s = max(self.longest_s or 0.0, now_s - self.worked_s)
        self.worked_s = now_s


class TaskMeters:
    """Takes lines from several threads, and says what they come to.

    Args:
        clock: Seconds, those of the loop: workers' clocks are not looked at.
        window_s: Counters are compared over so long, s.
    """

    def __init__(self, clock: Callable[[], float], window_s: float = 30.0) -> None:
        self._clock = clock
        self._window_s = window_s
        self._lock = threading.Lock()
        self._topologies: dict[str, _Topology] = {}

    def follow(self, topology_ids: Collection[str]) -> None:
        """Say which topologies are of interest; lines of others are dropped, and what was kept of them."""
        with self._lock:
            kept = self._topologies
            self._topologies = {each: kept.get(each) or _Topology() for each in topology_ids}

    def take(self, line: MetricLine) -> None:
        """Take a line."""
        counter = line.metric.startswith((EXECUTED, EMITTED))
        if counter != line.metric.endswith(_COUNT):
            return
        if not counter and not line.metric.startswith((POPULATION, OVERFLOW, EXECUTE_MS, PROCESS_MS)):
            return
        now_s, key = self._clock(), (line.task, line.metric.removesuffix(_COUNT))
        with self._lock:
            topology = self._topologies.get(line.topology_id)
            if topology is None:
                return
            values = topology.seen.setdefault(key, deque())
            if counter and values and line.value < values[-1][1]:
                values.clear()  # the worker was started anew
            if line.task in topology.watched and _is_work(line.metric):
                topology.note(now_s, line.value - (values[-1][1] if values else 0.0))
            values.append((now_s, line.value))
            while len(values) > 2 and now_s - values[1][0] >= self._window_s:
                values.popleft()

    def readings(self, topology_id: str, since_s: float) -> TaskReadings:
        """Return what tasks have said since a time, s.

        A counter has no rate yet that has been seen for less than a moment since then: lines that came late
        come together.
        """
        with self._lock:
            topology = self._topologies.get(topology_id, _Topology())
            seen = {
                key: kept
                for key, values in topology.seen.items()
                if (kept := [each for each in values if each[0] >= since_s])
            }
        rates = {
            key: (values[-1][1] - values[0][1]) / (values[-1][0] - values[0][0])
            for key, values in seen.items()
            if key[1].startswith((EXECUTED, EMITTED)) and values[-1][0] - values[0][0] >= _SPAN_S
        }
        spoke_s = {
            task: (values[0][0], values[-1][0])
            for (task, metric), values in seen.items()
            if metric == POPULATION
        }
        return TaskReadings(rates, {key: values[-1][1] for key, values in seen.items()}, spoke_s)

    def watch(self, topology_id: str, tasks: Collection[int], sample_rate: float = 1.0) -> None:
        """Note from now on when some tasks of a topology execute something, in place of others.

        Args:
            topology_id: Of the topology.
            tasks: Of it; none: nothing more is noted.
            sample_rate: Share of items that Storm counts: of twenty, it counts one as twenty.
        """
        with self._lock:
            topology = self._topologies.get(topology_id)
            if topology is not None:
                topology.watch(tasks, sample_rate)

    def still_s(self, topology_id: str) -> float | None:
        """Return the longest time in which the watched tasks did less than half of what was usual, s.

        Workers that go on learn late where others have started anew: until then some items come, and most do
        not. None: they have not been seen at work both before and after it. 0: it was no longer than reports
        are apart. It is known to the time between two reports, half of which may be missing at either end.
        """
        with self._lock:
            topology = self._topologies.get(topology_id, _Topology())
            longest_s, between_s = topology.longest_s, topology.between_s()
        if between_s is None or longest_s is None:
            return None
        if longest_s <= _LATELY * between_s:
            return 0.0  # one report after the other
        return longest_s - between_s

    def untold_s(self, topology_id: str) -> float | None:
        """Return what a pause took at the most that was too short to be seen, s; None if none works now."""
        with self._lock:
            topology = self._topologies.get(topology_id, _Topology())
            worked_s, between_s = topology.worked_s, topology.between_s()
        if between_s is None or worked_s is None or self._clock() - worked_s > _LATELY * between_s:
            return None
        return between_s
