"""The rates of one topology: the JSON object of the znode `<root>/rates/<topology id>`, its keys and bounds.

The rates collector writes it, the daemon and the agents read it. Rates are in tuples per second. A reader
ignores keys that it does not know, so that a later collector may add some without changing the version.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic, which reads readings, takes no other before Python 3.12

from formats.bounds import Checked, Finite, Unread, Within

VERSION: Literal[1] = 1
LIFETIME_S = 180.0
"""The lifetime that the collector states."""
MAX_EXECUTORS = 5_000
"""Rates of single executors are left out of a topology with more: the znode holds a megabyte at most."""
MAX_NAMED = 20
"""Of the executors without statistics no more are named."""

# No executor reaches these; a greater number is a fault of whatever counted.
_Rate = Annotated[float, Within(0, 1e12)]
_TupleBytes = Annotated[float, Within(0, 1e9)]
_ExecutionMs = Annotated[float, Within(0, 60_000.0)]
# Storm numbers tasks by Java's int.
_Task = Annotated[int, Within(0, 2**31 - 1)]
# No window is shorter or longer, no topology samples less: one tuple per window would be no number any more.
_WindowS = Annotated[float, Within(1.0, 1e6)]
_SampleRate = Annotated[float, Within(1e-6, 1)]

# by a call, as `from` cannot be the name of an attribute
StreamFields = TypedDict(
    "StreamFields",
    {"from": str, "stream": str, "to": str, "rate": _Rate, "tuple_bytes": NotRequired[_TupleBytes | None]},
)
"""What a component takes of a stream, and the mean size of its tuples, None if it is not measured."""


class EmittedFields(TypedDict):
    """What a component emits on a stream, and how many copies of it go to tasks."""

    component: str
    stream: str
    rate: _Rate
    transferred: NotRequired[Annotated[float, Unread()]]


class ExecutorsFields(TypedDict):
    """Parallel lists: lowest task, rates taken and emitted, ms per tuple, None where it is not known."""

    first_task: list[_Task]
    executed: list[_Rate]
    emitted: list[_Rate]
    execute_ms: list[_ExecutionMs | None]


def _check_parallel(executors: ExecutorsFields) -> None:
    first_task = executors["first_task"]
    if any(len(executors[key]) != len(first_task) for key in ("executed", "emitted", "execute_ms")):
        raise ValueError("the lists are not parallel")
    if len(set(first_task)) < len(first_task):
        raise ValueError("an executor occurs twice")


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
        host_pairs: Host, another host and the rate between them both ways, busiest first.
        complete: Whether every executor has statistics.
        missing: Executors without, components without executors; at most `MAX_NAMED`.
    """

    version: Literal[1]
    time: Annotated[float, Finite()]
    sequence: NotRequired[Annotated[int, Unread()]]
    lifetime_s: Annotated[float, Within(above=0)]
    topology: str
    window_s: _WindowS
    sample_rate: _SampleRate
    streams: list[StreamFields]
    emitted: list[EmittedFields]
    executors: NotRequired[Annotated[ExecutorsFields, Checked(_check_parallel)] | None]
    host_pairs: NotRequired[Annotated[list[tuple[str, str, float]], Unread()]]
    complete: bool
    missing: list[str]


for _fields in (StreamFields, EmittedFields, ExecutorsFields, RatesFields):
    # how pydantic reads them: no conversion of types, unknown keys ignored
    _fields.__pydantic_config__ = {"strict": True, "extra": "ignore"}  # type: ignore[union-attr]  # its hook
