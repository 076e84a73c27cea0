"""What the rates collector publishes of one topology: rates of streams, executors, pairs of hosts.

The znode `<root>/rates/<topology id>` holds one JSON object (`formats.rates_reading`), packed if it is
large.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from formats.rates_reading import LIFETIME_S, MAX_EXECUTORS, MAX_NAMED, MOST_FACTOR, STARTED_S, VERSION
from monitoring.rates.counters import Stream, is_user_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from formats.rates_reading import ExecutorsFields, RatesFields
    from monitoring.rates.counters import ExecutorLook, Shape
    from monitoring.rates.history import Window

_DIGITS = 6
_FACTOR_DIGITS = 3
_Direction = Literal["executed", "emitted", "transferred"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One executor with its rates, None without statistics in the window, and since when its worker runs.

    Attributes:
        look: The executor.
        window: Its rates.
        running_s: Age of its worker, s; None without statistics.
    """

    look: ExecutorLook
    window: Window | None
    running_s: float | None = None


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one topology; all rates in tuples/s.

    Attributes:
        window_s: Median length of the executors' windows, s.
        sample_rate: Share of tuples that Storm counts, the least of all executors'.
        streams: (stream, component, rate at which the component takes it), sorted.
        emitted: (stream, rate of emission, copies/s sent to tasks), sorted.
        executors: Those with statistics, by first task.
        host_pairs: (host, another host, tuples/s between them both ways), busiest first.
        missing: Executors without statistics, components without executors.
        busy: Time that the executors of a component spend in executions, percent of one core for all of
            them, by component; only of those for which Storm measures it.
        started: (age of the worker in s, first task) of executors whose worker began to run lately.
        complete_ms: Mean time from the spouts' emissions to their acknowledgement, ms; None without any.
    """

    window_s: float
    sample_rate: float
    streams: tuple[tuple[Stream, str, float], ...]
    emitted: tuple[tuple[Stream, float, float], ...]
    executors: tuple[tuple[ExecutorLook, Window], ...]
    host_pairs: tuple[tuple[str, str, float], ...]
    missing: tuple[str, ...]
    busy: Mapping[str, float] = field(default_factory=dict)
    started: tuple[tuple[float, int], ...] = ()
    complete_ms: float | None = None

    @property
    def complete(self) -> bool:
        """Whether every executor has statistics."""
        return not self.missing


def derive(shape: Shape, measured: Sequence[Measured]) -> Rates | None:
    """Derive the rates of a topology.

    An executor without statistics counts as the mean of its component's others, by task, never as zero; where
    a component has none at all, what it takes and emits is left out.

    Args:
        shape: Who subscribes to what.
        measured: Every executor that Nimbus lists, of user components and ackers.

    Returns:
        None if no executor has statistics.
    """
    known = sorted(
        ((one.look, one.window) for one in measured if one.window is not None),
        key=lambda one: one[0].first_task,
    )
    if not known:
        return None
    groups = _groups(measured)
    streams = tuple(
        (stream, to, sum(taken))
        for stream, to in shape.edges()
        if (taken := _dealt(groups.get(to, ()), "executed", stream)) is not None
    )
    return Rates(
        window_s=statistics.median(window.length_s for _, window in known),
        sample_rate=1.0 / max(window.step for _, window in known),
        streams=streams,
        emitted=_emitted_rates(shape, groups),
        executors=tuple(known),
        host_pairs=_host_pairs([edge[:2] for edge in streams], groups),
        missing=(
            *sorted(component for component in shape.inputs if component not in groups),
            *(one.look.name for group in groups.values() for one in group if one.window is None),
        ),
        busy={name: busy for name, group in groups.items() if (busy := _busy(group)) is not None},
        started=tuple(
            (one.running_s, one.look.first_task)
            for one in measured
            if one.running_s is not None and one.running_s < STARTED_S
        ),
        complete_ms=_complete_ms([window for _, window in known]),
    )


def _complete_ms(windows: Iterable[Window]) -> float | None:
    """Return the mean over all spouts, each tree of tuples as much as any other."""
    acked = [(one.acked, one.complete_ms) for one in windows if one.complete_ms is not None]
    total = sum(rate for rate, _ in acked)
    return sum(rate * ms for rate, ms in acked) / total if total > 0 else None


def _groups(measured: Iterable[Measured]) -> dict[str, list[Measured]]:
    """Return the executors of each component, both in the order of tasks."""
    groups: defaultdict[str, list[Measured]] = defaultdict(list)
    for one in sorted(measured, key=lambda one: one.look.first_task):
        groups[one.look.component].append(one)
    return dict(groups)


def _busy(group: Sequence[Measured]) -> float | None:
    """Return how busy all executors of a component are; None if that is known of none."""
    known = [
        (one.window.busy_percent, one.look.tasks)
        for one in group
        if one.window is not None and one.window.busy_percent is not None
    ]
    if not known:
        return None
    return (
        sum(busy for busy, _ in known)
        / sum(tasks for _, tasks in known)
        * sum(one.look.tasks for one in group)
    )


def _dealt(group: Sequence[Measured], what: _Direction, key: Stream | str) -> list[float] | None:
    """Return a rate of each executor of a component; one without statistics counts as the mean of the others.

    Returns:
        None if no executor has statistics.
    """
    rates = [getattr(one.window, what).get(key, 0.0) if one.window is not None else None for one in group]
    known = [(rate, one.look.tasks) for rate, one in zip(rates, group, strict=True) if rate is not None]
    if not known:
        return None
    per_task = sum(rate for rate, _ in known) / sum(tasks for _, tasks in known)
    return [
        per_task * one.look.tasks if rate is None else rate for rate, one in zip(rates, group, strict=True)
    ]


def _emitted_rates(
    shape: Shape, groups: Mapping[str, Sequence[Measured]]
) -> tuple[tuple[Stream, float, float], ...]:
    """Return what each component emits: streams with a subscriber, and all others with a counter."""
    streams = {stream for inputs in shape.inputs.values() for stream in inputs}
    for component, group in groups.items():
        for one in group:
            streams |= {Stream(component, stream) for stream in (one.window.emitted if one.window else ())}
    result = []
    for stream in sorted(streams):
        group = groups.get(stream.component, ())
        emitted = _dealt(group, "emitted", stream.id)
        transferred = _dealt(group, "transferred", stream.id)
        if emitted is not None and transferred is not None:
            result.append((stream, sum(emitted), sum(transferred)))
    return tuple(result)


def _host_pairs(
    edges: Iterable[tuple[Stream, str]], groups: Mapping[str, Sequence[Measured]]
) -> tuple[tuple[str, str, float], ...]:
    """Deal what executors take out over the hosts of the stream's source, in proportion to what these send.

    Storm counts no pairs of executors. Groupings that prefer the same worker make this an upper bound.
    """
    names = sorted({one.look.host for group in groups.values() for one in group})
    index = {name: number for number, name in enumerate(names)}

    def by_host(group: Sequence[Measured], rates: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
        at = [index[one.look.host] for one in group]
        return np.bincount(at, weights=list(rates), minlength=len(names)).astype(np.float64)

    traffic = np.zeros((len(names), len(names)))
    for stream, to in edges:
        sources, targets = groups.get(stream.component, ()), groups[to]
        taken = by_host(targets, _dealt(targets, "executed", stream) or ())
        sent = _dealt(sources, "transferred", stream.id) or ()
        weights = by_host(sources, sent if sum(sent) > 0 else [one.look.tasks for one in sources])
        if weights.sum() > 0:
            traffic += np.outer(weights / weights.sum(), taken)
    both = np.triu(traffic + traffic.T, k=1)
    pairs = [(names[a], names[b], float(both[a, b])) for a, b in zip(*np.nonzero(both), strict=True)]
    return tuple(sorted(pairs, key=lambda pair: (-pair[2], pair[:2])))


def source_rate(rates: Rates, shape: Shape) -> float:
    """Return what all spouts together emit on streams of the topology, tuples/s."""
    return sum(
        rate
        for stream, rate, _ in rates.emitted
        if stream.component in shape.spouts and is_user_stream(stream.id)
    )


def to_json(
    topology: str, rates: Rates, time_s: float, sequence: int, ahead: Sequence[float | None] = ()
) -> bytes:
    """Give the reading as text.

    Args:
        topology: Id of the topology.
        rates: What was measured.
        time_s: Unix time of the reading, s.
        sequence: Number of the reading, from 1 at each start of the collector.
        ahead: By what factor the next hours are usually busier; empty if that is not known.

    Raises:
        ValueError: If a number is not finite; such a reading must never be published.
    """
    content: RatesFields = {
        "version": VERSION,
        "time": round(time_s, 3),
        "sequence": sequence,
        "lifetime_s": LIFETIME_S,
        "topology": topology,
        "window_s": rates.window_s,
        "sample_rate": _short(rates.sample_rate),
        "streams": [
            {
                "from": stream.component,
                "stream": stream.id,
                "to": to,
                "rate": _short(rate),
                "tuple_bytes": None,
            }
            for stream, to, rate in rates.streams
        ],
        "emitted": [
            {
                "component": stream.component,
                "stream": stream.id,
                "rate": _short(rate),
                "transferred": _short(transferred),
            }
            for stream, rate, transferred in rates.emitted
        ],
        "executors": _executors_json(rates),
        "busy": [
            {"component": component, "percent": _short(percent)} for component, percent in rates.busy.items()
        ],
        "host_pairs": [(a, b, _short(rate)) for a, b, rate in rates.host_pairs],
        "complete": rates.complete,
        "missing": list(rates.missing[:MAX_NAMED]),
    }
    if rates.complete_ms is not None:
        content["complete_ms"] = _short(rates.complete_ms)
    if 0 < len(rates.started) <= MAX_EXECUTORS:
        content["started"] = _started_json(rates, time_s)
    if ahead:
        content["hours_ahead"] = [
            None if each is None else round(min(each, MOST_FACTOR), _FACTOR_DIGITS) for each in ahead
        ]
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def _started_json(rates: Rates, time_s: float) -> list[tuple[int, list[int]]]:
    """Return the executors of each second in which workers began to run: most of a topology's share few."""
    by_second: defaultdict[int, list[int]] = defaultdict(list)
    for running_s, first_task in rates.started:
        by_second[round(time_s - running_s)].append(first_task)
    return [(second, sorted(tasks)) for second, tasks in sorted(by_second.items())]


def _executors_json(rates: Rates) -> ExecutorsFields | None:
    if len(rates.executors) > MAX_EXECUTORS:
        return None
    return {
        "first_task": [look.first_task for look, _ in rates.executors],
        "executed": [_short(window.executed_total) for _, window in rates.executors],
        "emitted": [_short(window.emitted_by_user) for _, window in rates.executors],
        "execute_ms": [
            None if window.execute_ms is None else _short(window.execute_ms) for _, window in rates.executors
        ],
    }


def _short(number: float) -> float:
    """Round to six significant digits: no counter is known better, and the znode stays small."""
    if number == 0 or not math.isfinite(number):
        return number
    return round(number, _DIGITS - 1 - math.floor(math.log10(abs(number))))
