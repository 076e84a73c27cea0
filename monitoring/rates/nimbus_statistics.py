"""Turns Nimbus' replies into counters, and finds what is missing or cannot be true."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from monitoring.rates.counters import (
    ACKED,
    ACKER,
    FAILED,
    Counters,
    ExecutorLook,
    Shape,
    Stream,
    is_measured_component,
    is_measured_stream,
)
from monitoring.rates.nimbus_faults import lacking

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL_TIME = ":all-time"
_MAX_STEP = 1e9


class StatisticsFault(StrEnum):
    """Why an executor's statistics are not used."""

    MISSING = "missing"
    """A field is not there."""
    IMPOSSIBLE = "impossible"
    """A number cannot be true."""


class _FaultError(Exception):
    """A field that is missing or impossible.

    Args:
        kind: Which of both.
        text: A few words, without numbers: the log names a fault once for as long as they are the same.
    """

    def __init__(self, kind: StatisticsFault, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def topology_shape(topology: Any) -> Shape:
    """Read who subscribes to what.

    Args:
        topology: Thrift `StormTopology` with Storm's own components.

    Raises:
        ReplyError: A field is missing.
    """
    if topology.spouts is None or topology.bolts is None:
        raise lacking("spouts or bolts")
    present = {
        name: inputs
        for name, one in {**topology.spouts, **topology.bolts}.items()
        if is_measured_component(name) and (inputs := _inputs(one.common)) is not None
    }
    return Shape(
        inputs={
            name: tuple(
                sorted(
                    stream
                    for stream in inputs
                    if stream.component in present and is_measured_stream(stream.id)
                )
            )
            for name, inputs in present.items()
        },
        spouts=frozenset(name for name in topology.spouts if name in present),
        shells=frozenset(
            name for name, bolt in topology.bolts.items() if name in present and _is_shell(bolt)
        ),
    )


def _inputs(common: Any) -> tuple[Stream, ...] | None:
    """Return what a component subscribes to; None if it runs without tasks."""
    if common is None or common.inputs is None:
        raise lacking("what a component subscribes to")
    if common.parallelism_hint == 0:
        return None
    if any(id_.componentId is None or id_.streamId is None for id_ in common.inputs):
        raise lacking("the source of a subscription")
    return tuple(Stream(id_.componentId, id_.streamId) for id_ in common.inputs)


def _is_shell(bolt: Any) -> bool:
    if bolt.bolt_object is None:
        raise lacking("what a bolt is made of")
    return bolt.bolt_object.shell is not None


def executor_looks(info: Any, shape: Shape) -> tuple[ExecutorLook, ...]:
    """Read the executors of user components and ackers.

    Args:
        info: Thrift `TopologyInfo`.
        shape: Of the same topology.

    Raises:
        ReplyError: A field is missing that says which executor it is, or where.
    """
    if info.executors is None:
        raise lacking("the executors")
    if any(one.component_id is None for one in info.executors):
        raise lacking("the component of an executor")
    return tuple(
        _executor_look(one, shape) for one in info.executors if is_measured_component(one.component_id)
    )


def _executor_look(summary: Any, shape: Shape) -> ExecutorLook:
    tasks = summary.executor_info
    if tasks is None or tasks.task_start is None or tasks.task_end is None:
        raise lacking("the tasks of an executor")
    if not summary.host or summary.port is None:
        raise lacking("the host or port of an executor")
    counters, fault, kind = None, "", ""
    if summary.stats is not None:
        try:
            counters = _counters(summary.uptime_secs, summary.stats, shape, summary.component_id)
        except _FaultError as error:
            fault, kind = str(error), error.kind
    return ExecutorLook(
        component=summary.component_id,
        first_task=tasks.task_start,
        last_task=tasks.task_end,
        host=summary.host,
        port=summary.port,
        counters=counters,
        fault=fault,
        fault_kind=kind,
    )


def _counters(uptime_s: int | None, stats: Any, shape: Shape, component: str) -> Counters:
    if uptime_s is None:
        raise _FaultError(StatisticsFault.MISSING, "uptime is missing")
    if uptime_s < 0:
        raise _FaultError(StatisticsFault.IMPOSSIBLE, "uptime is below zero")
    step = stats.rate
    if step is None:
        raise _FaultError(StatisticsFault.MISSING, "sampling rate is missing")
    if not 1 <= step <= _MAX_STEP:
        raise _FaultError(StatisticsFault.IMPOSSIBLE, f"sampling rate is not from 1 to {_MAX_STEP:.0e}")
    if stats.specific is None:
        raise _FaultError(StatisticsFault.MISSING, "no statistics of a bolt or a spout")
    bolt, spout = stats.specific.bolt, stats.specific.spout
    execute_ms = busy_ms = complete_ms = None
    if bolt is not None:
        executed = _counts("executed", bolt.executed, _global)
        if component not in shape.shells:
            ours = {stream: count for stream, count in executed.items() if _is_measured(stream)}
            execute_ms = _spent_ms(bolt.execute_ms_avg, ours, _global, step)
            busy_ms = _all_spent_ms(bolt.execute_ms_avg, executed, _global)
    elif spout is not None:
        # a spout's tuples of the ackers are counted by the stream of the tree's root
        acked = _counts("acked", spout.acked, str)
        failed = _counts("failed", spout.failed, str)
        executed = {
            Stream(ACKER, stream): sum(counts.values())
            for stream, counts in ((ACKED, acked), (FAILED, failed))
        }
        complete_ms = _all_spent_ms(spout.complete_ms_avg, acked, str)
    else:
        raise _FaultError(StatisticsFault.MISSING, "no statistics of a bolt or a spout")
    return Counters(
        uptime_s=uptime_s,
        step=step,
        emitted=_keep_measured(_counts("emitted", stats.emitted, str)),
        transferred=_keep_measured(_counts("transferred", stats.transferred, str)),
        executed={stream: count for stream, count in executed.items() if _is_measured(stream)},
        execute_ms=execute_ms,
        busy_ms=busy_ms,
        complete_ms=complete_ms,
    )


def _is_measured(stream: Stream) -> bool:
    return is_measured_component(stream.component) and is_measured_stream(stream.id)


def _global(id_: Any) -> Stream:
    if id_.componentId is None or id_.streamId is None:
        raise _FaultError(StatisticsFault.MISSING, "the source of tuples is missing")
    return Stream(id_.componentId, id_.streamId)


def _keep_measured(counts: dict[str, int]) -> dict[str, int]:
    return {stream: count for stream, count in counts.items() if is_measured_stream(stream)}


def _counts(name: str, windows: Any, key: Callable[[Any], Any]) -> dict[Any, int]:
    """Return the counts since the start. No window at all means that nothing was counted yet: a true zero."""
    if windows is None:
        raise _FaultError(StatisticsFault.MISSING, f"{name} is missing")
    if windows and _ALL_TIME not in windows:
        raise _FaultError(StatisticsFault.MISSING, f"{name} has no window {_ALL_TIME}")
    counts = {key(stream): count for stream, count in (windows.get(_ALL_TIME) or {}).items()}
    if any(count < 0 for count in counts.values()):
        raise _FaultError(StatisticsFault.IMPOSSIBLE, f"{name} has a count below zero")
    return counts


def _spent_ms(
    windows: Any, counts: dict[Any, int], key: Callable[[Any], Any], step: float
) -> dict[Any, float] | None:
    """Return the time that what was sampled took, by stream; None if a stream's mean is missing."""
    if windows is None:
        return None
    means = {key(stream): mean for stream, mean in (windows.get(_ALL_TIME) or {}).items()}
    spent_ms = {}
    for stream, count in counts.items():
        mean_ms = means.get(stream)
        if mean_ms is None or not math.isfinite(mean_ms) or mean_ms < 0:
            return None
        spent_ms[stream] = mean_ms * count / step
    return spent_ms


def _all_spent_ms(windows: Any, counts: dict[Any, int], key: Callable[[Any], Any]) -> float | None:
    """Return the time that all took together, by the mean of what was sampled; None as `_spent_ms`."""
    spent_ms = _spent_ms(windows, counts, key, 1.0)
    return None if spent_ms is None else sum(spent_ms.values())
