"""What the rates collector works out of one topology: rates of streams, executors, pairs of hosts."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from formats.rates_reading import STARTED_S
from monitoring.rates.counters import Stream, is_user_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from monitoring.rates.counters import ExecutorLook, Shape
    from monitoring.rates.history import Window

_Direction = Literal["executed", "emitted", "transferred"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One executor with its rates, None without statistics in the window, and since when its worker runs.

    Attributes:
        look: The executor.
        window: Its rates.
        running_s: Age of its worker, s; None without statistics.
        worked_s: Time since it began to take or emit tuples, s; None if that is not known.
        ready_s: Time since it was there and waited for its first tuple, s; None if it did not wait.
    """

    look: ExecutorLook
    window: Window | None
    running_s: float | None = None
    worked_s: float | None = None
    ready_s: float | None = None


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
        worked: Of these (time in s since they began to take or emit tuples, first task), where it is known.
        ready: Of these (time in s since they were there, first task), of those that had no tuple then.
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
    worked: tuple[tuple[float, int], ...] = ()
    ready: tuple[tuple[float, int], ...] = ()
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
    begun = [one for one in measured if one.running_s is not None and one.running_s < STARTED_S]
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
        started=_since((one, one.running_s) for one in begun),
        worked=_since((one, one.worked_s) for one in begun),
        ready=_since((one, one.ready_s) for one in begun),
        complete_ms=_complete_ms([window for _, window in known]),
    )


def _since(ages: Iterable[tuple[Measured, float | None]]) -> tuple[tuple[float, int], ...]:
    """Return what is known, with the first task of the executor."""
    return tuple((age_s, one.look.first_task) for one, age_s in ages if age_s is not None)


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
