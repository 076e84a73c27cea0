"""The rates of one topology: the JSON object of the znode `<root>/rates/<topology id>`, its keys and bounds.

The rates collector writes it, the daemon and the agents read it. Rates are in tuples per second. A reader
ignores keys that it does not know, so that a later collector may add some without changing the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from annotated_types import Gt, Interval, Len
from typing_extensions import TypedDict  # pydantic, which reads readings, takes no other before Python 3.12

from formats.node_reading import READ
from formats.week_curve import HOURS

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION: Literal[1] = 1
LIFETIME_S = 180.0
"""The lifetime that the collector states."""
MAX_EXECUTORS = 5_000
"""Rates of single executors are left out of a topology with more: the znode holds a megabyte at most."""
HOURS_AHEAD = 24
"""Hours to come of which is said how busy they usually are."""
MOST_FACTOR = 1e6
"""An hour that is usually so much busier than the present one is no forecast any more."""
MAX_NAMED = 20
"""Of the executors without statistics no more are named."""
STARTED_S = 900.0
"""Executors are named for so long after the start of their worker: most readings name none."""

# No executor reaches these; a greater number is a fault of whatever counted.
_Rate = Annotated[float, Interval(ge=0, le=1e12)]
_TupleBytes = Annotated[float, Interval(ge=0, le=1e9)]
_ExecutionMs = Annotated[float, Interval(ge=0, le=60_000.0)]
# No tree of tuples is waited for as long as a day.
_CompleteMs = Annotated[float, Interval(ge=0, le=86_400_000.0)]
# More cores are in no cluster.
_Percent = Annotated[float, Interval(ge=0, le=1e9)]
# Storm numbers tasks by Java's int.
_Task = Annotated[int, Interval(ge=0, le=2**31 - 1)]
# No window is shorter or longer, no topology samples less: one tuple per window would be no number any more.
_WindowS = Annotated[float, Interval(ge=1.0, le=1e6)]
_UnixS = Annotated[int, Interval(ge=0, le=10**12)]
_Moments = list[tuple[_UnixS, list[_Task]]]
_Factor = Annotated[float, Interval(ge=0, le=MOST_FACTOR)]
_SampleRate = Annotated[float, Interval(ge=1e-6, le=1)]

# by a call, as `from` cannot be the name of an attribute
StreamFields = TypedDict(
    "StreamFields",
    {"from": str, "stream": str, "to": str, "rate": _Rate, "tuple_bytes": NotRequired[_TupleBytes | None]},
)
"""What a component takes of a stream, and the mean size of its tuples, None if it is not measured."""


@dataclass(frozen=True)
class _Unread:
    """A value that the daemon does not read, so that it refuses none."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's rule for any value; asked for in this way it needs no library here."""
        return {"type": "any"}


class EmittedFields(TypedDict):
    """What a component emits on a stream, and how many copies of it go to tasks."""

    component: str
    stream: str
    rate: _Rate
    transferred: NotRequired[Annotated[float, _Unread()]]


class BusyFields(TypedDict):
    """Time that the executors of a component spend in executions, percent of one core for all of them."""

    component: str
    percent: _Percent


class ExecutorsFields(TypedDict):
    """Parallel lists: lowest task, rates taken and emitted, ms per tuple, None where it is not known."""

    first_task: list[_Task]
    executed: list[_Rate]
    emitted: list[_Rate]
    execute_ms: list[_ExecutionMs | None]


@dataclass(frozen=True)
class _Parallel:
    """Lists of one length, no executor twice."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        function = {"type": "no-info", "function": _check_parallel}
        return {"type": "function-after", "function": function, "schema": handler(source)}


def _check_parallel(executors: ExecutorsFields) -> ExecutorsFields:
    first_task = executors["first_task"]
    if any(len(executors[key]) != len(first_task) for key in ("executed", "emitted", "execute_ms")):
        raise ValueError("the lists are not parallel")
    if len(set(first_task)) < len(first_task):
        raise ValueError("an executor occurs twice")
    return executors


class RatesFields(TypedDict):
    """A whole reading.

    Attributes:
        version: `VERSION`.
        time: Unix time of the reading, s.
        sequence: Number of the reading, from 1 at each start of the collector.
        lifetime_s: Age from which the reading counts as missing.
        topology: Id of the topology.
        window_s: Median length of the executors' windows.
        sample_rate: Share of tuples that Storm counts.
        streams: What components take.
        emitted: What components emit.
        executors: What single executors do, None above `MAX_EXECUTORS`.
        busy: Components for which Storm measures execution times; left out by older collectors.
        host_pairs: Host, another host and the rate between them both ways, busiest first.
        complete: Whether every executor has statistics.
        missing: Executors without, components without executors; at most `MAX_NAMED`.
        started: Unix time at which workers began to run, by the clock of `time`, and the lowest tasks of
            their executors; only of the last `STARTED_S`, and left out without any and by older collectors.
        worked: Unix time at which executors among these took or emitted their first tuple, likewise; only of
            those whose tuples are counted often enough to say so. Left out without `started` and by older
            collectors.
        ready: Unix time at which executors among these were seen to be there and had no tuple yet, likewise;
            left out without any and by older collectors.
        complete_ms: Mean time from the spouts' emissions to their acknowledgement; left out where nothing is
            acknowledged, and by older collectors.
        hours_ahead: By what factor the sources usually emit more in each of the next hours (UTC) than in the
            present one, None where that is not known; left out where nothing is, and by older collectors.
    """

    version: Literal[1]
    time: float
    sequence: NotRequired[Annotated[int, _Unread()]]
    lifetime_s: Annotated[float, Gt(0)]
    topology: str
    window_s: _WindowS
    sample_rate: _SampleRate
    streams: list[StreamFields]
    emitted: list[EmittedFields]
    executors: NotRequired[Annotated[ExecutorsFields, _Parallel()] | None]
    busy: NotRequired[list[BusyFields]]
    host_pairs: NotRequired[Annotated[list[tuple[str, str, float]], _Unread()]]
    complete: bool
    missing: list[str]
    started: NotRequired[_Moments]
    worked: NotRequired[_Moments]
    ready: NotRequired[_Moments]
    complete_ms: NotRequired[_CompleteMs]
    hours_ahead: NotRequired[Annotated[list[_Factor | None], Len(1, HOURS)]]


for _fields in (StreamFields, EmittedFields, BusyFields, ExecutorsFields, RatesFields):
    _fields.__pydantic_config__ = READ  # type: ignore[union-attr]  # its hook
