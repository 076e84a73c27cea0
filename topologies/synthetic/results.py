"""What a run measured: delays by path, by stream and by operator, rates, and what is wrong."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from topologies.synthetic.journey import Journey
    from topologies.synthetic.totals import Tally
    from topologies.synthetic.workload import Workload

LEAST_TUPLES = 10
"""A path with fewer tuples is listed, but not taken for the longest: its median says little."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Median and 95th percentile of some delays, in ms."""

    tuples: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class MeasuredPath:
    """Delays of the tuples that came one way, from the source's beginning to the sink's end.

    Attributes:
        number: Its number in files.
        streams: Streams along it.
        operators: Names of the operators along it.
        delays: Of whole tuples.
    """

    number: int
    streams: tuple[int, ...]
    operators: tuple[str, ...]
    delays: Delays


@dataclass(frozen=True, slots=True)
class MeasuredStream:
    """One stream; what was asked stands in the workload.

    Attributes:
        sent: Tuples that its source emitted; None if that is unknown.
        received: Tuples that its target took; None if that is unknown.
        rate: Tuples per second at the target, None with fewer than two tuples.
        tuple_bytes: Mean size, None without a tuple.
        hop: From passing on to taking, of tuples that reached a sink; None if there were none.
    """

    sent: int | None
    received: int | None
    rate: float | None
    tuple_bytes: float | None
    hop: Delays | None


class Measurements:
    """Gathers journeys; memory grows with their hops, 8 bytes each."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._paths: dict[tuple[int, ...], array[int]] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._hops: dict[int, array[int]] = {}
        self._work: dict[int, array[int]] = {}

    def add(self, journey: Journey) -> int:
        """Take a tuple's journey; return the number of its path."""
        if journey.path not in self._paths:
            self._paths[journey.path] = array("q")
            self._numbers[journey.path] = len(self._numbers) + 1
        self._paths[journey.path].append(journey.delay_us)
        source = self._workload.streams[journey.path[0]].source
        self._work.setdefault(source, array("q")).append(journey.out_us[0])
        for hop, stream in enumerate(journey.path):
            out_us, in_us, done_us = journey.out_us[hop], journey.in_us[hop], journey.out_us[hop + 1]
            self._hops.setdefault(stream, array("q")).append(in_us - out_us)
            target = self._workload.streams[stream].target
            self._work.setdefault(target, array("q")).append(done_us - in_us)
        return self._numbers[journey.path]

    def paths(self) -> tuple[MeasuredPath, ...]:
        """Return all paths, the longest first: by median, those with too few tuples behind all others."""
        found = [
            MeasuredPath(self._numbers[path], path, self._workload.way(path), delays_of(values))
            for path, values in self._paths.items()
        ]
        found.sort(key=lambda path: (not is_judged(path), -path.delays.p50_ms, path.number))
        return tuple(found)

    def streams(self, totals: Mapping[str, Tally]) -> tuple[MeasuredStream, ...]:
        """Return what is known of each stream of the workload.

        Args:
            totals: Counts by component, as `topologies.synthetic.totals` reads them.
        """
        return tuple(self._stream(k, totals) for k in range(len(self._workload.streams)))

    def work(self) -> dict[str, Delays]:
        """Return the time that operators worked per tuple, by name; of tuples that reached a sink."""
        return {
            operator.name: delays_of(self._work[index])
            for index, operator in enumerate(self._workload.operators)
            if index in self._work
        }

    def _stream(self, k: int, totals: Mapping[str, Tally]) -> MeasuredStream:
        stream = self._workload.streams[k]
        source = totals.get(self._workload.operators[stream.source].component)
        target = totals.get(self._workload.operators[stream.target].component)
        sent, size = source["sent"].get(k, (0, 0)) if source is not None else (None, 0)
        received, first_us, last_us = (
            target["received"].get(k, (0, 0, 0)) if target is not None else (None, 0, 0)
        )
        hops = self._hops.get(k)
        return MeasuredStream(
            sent=sent,
            received=received,
            rate=(received - 1) * 1e6 / (last_us - first_us) if received and last_us > first_us else None,
            tuple_bytes=size / sent if sent else None,
            hop=delays_of(hops) if hops else None,
        )


def is_judged(path: MeasuredPath) -> bool:
    """Whether enough tuples came that way to compare it with others."""
    return path.delays.tuples >= LEAST_TUPLES


def delays_of(values_us: array[int]) -> Delays:
    """Return median and 95th percentile of at least one value in microseconds."""
    ordered = sorted(values_us)
    return Delays(len(ordered), percentile(ordered, 0.5) / 1e3, percentile(ordered, 0.95) / 1e3)


def percentile(ordered: list[int], share: float) -> float:
    """Return a percentile of sorted values, linear between the two nearest."""
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def faults_of(
    workload: Workload, totals: Mapping[str, Tally], arrivals: Mapping[str, int], ended: set[str]
) -> Iterator[str]:
    """Yield what is wrong with a run, one phrase each.

    Args:
        workload: What was run.
        totals: Counts by component.
        arrivals: Arrivals that were found in Redis, by sink.
        ended: Sinks that reported their end.
    """
    for index in workload.sinks:
        component = workload.operators[index].component
        if component not in ended:
            yield f"sink {component} has not ended"
            continue
        taken = sum(
            counts[0]
            for stream, counts in totals[component]["received"].items()
            if workload.streams[stream].critical
        )
        found = arrivals.get(component, 0)
        if found != taken:
            yield f"sink {component} took {taken} tuples, {found} are in Redis"
    for index in workload.sources:
        skipped = totals.get(workload.operators[index].component, {}).get("skipped", 0)
        if skipped:
            yield f"source {workload.operators[index].name} was too slow and skipped {skipped} tuples"
    for k, stream in enumerate(workload.streams):
        source = totals.get(workload.operators[stream.source].component)
        target = totals.get(workload.operators[stream.target].component)
        if source is None or target is None or not stream.critical:
            continue
        sent, received = source["sent"].get(k, [0])[0], target["received"].get(k, [0])[0]
        if sent != received:
            yield f"stream {workload.stream_name(k)}: {sent} tuples sent, {received} received"
