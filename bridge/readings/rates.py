"""Measured rates of topologies: which readings are believed, and why the others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bridge.readings.payload_faults import PayloadFault, first_fault, kind_of
from bridge.wire.messages import ReadingKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.wire.messages import PlanRequest, Reading, Topology
    from scheduler.base.arrays import FloatArray, IntArray

# No executor reaches either; a greater number is a fault of whoever counted.
_LARGEST_RATE = 1e12
_LONGEST_EXECUTION_MS = 60_000.0
# Storm numbers tasks by Java's int.
_LARGEST_TASK = 2**31 - 1
# No window is shorter or longer, no topology samples less: one tuple per window would be no number any more.
_SHORTEST_WINDOW_S, _LONGEST_WINDOW_S = 1.0, 1e6
_LEAST_SAMPLE_RATE = 1e-6
# The collector names no more executors than this.
_NAMED = 20
_Rate = Annotated[float, Field(ge=0, le=_LARGEST_RATE, allow_inf_nan=False)]
_Bytes = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Milliseconds = Annotated[float, Field(ge=0, le=_LONGEST_EXECUTION_MS, allow_inf_nan=False)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Window = Annotated[float, Field(ge=_SHORTEST_WINDOW_S, le=_LONGEST_WINDOW_S, allow_inf_nan=False)]
_SampleRate = Annotated[float, Field(ge=_LEAST_SAMPLE_RATE, le=1, allow_inf_nan=False)]
_Task = Annotated[int, Field(ge=0, le=_LARGEST_TASK)]


class _Payload(BaseModel):
    # Later collectors may add fields without changing the version, so unknown ones are ignored.
    model_config = ConfigDict(strict=True, extra="ignore")


class _StreamPayload(_Payload):
    source: str = Field(alias="from")
    stream: str
    to: str
    rate: _Rate
    tuple_bytes: _Bytes | None = None


class _EmittedPayload(_Payload):
    component: str
    stream: str
    rate: _Rate


class _ExecutorsPayload(_Payload):
    first_task: list[_Task]
    executed: list[_Rate]
    emitted: list[_Rate]
    execute_ms: list[_Milliseconds | None]

    @model_validator(mode="after")
    def _parallel(self) -> Self:
        if not len(self.first_task) == len(self.executed) == len(self.emitted) == len(self.execute_ms):
            msg = "the lists are not parallel"
            raise ValueError(msg)
        if len(set(self.first_task)) < len(self.first_task):
            msg = "an executor occurs twice"
            raise ValueError(msg)
        return self


class _RatesPayload(_Payload):
    version: Literal[1]
    time: Annotated[float, Field(allow_inf_nan=False)]
    lifetime_s: _Positive
    topology: str
    window_s: _Window
    sample_rate: _SampleRate
    streams: list[_StreamPayload]
    emitted: list[_EmittedPayload]
    executors: _ExecutorsPayload | None = None
    complete: bool
    missing: list[str]


@dataclass(frozen=True, slots=True)
class Taken:
    """What a component takes of a stream.

    Attributes:
        rate: Tuples per second, over all executors.
        tuple_bytes: Mean size of a tuple, None if it is not measured.
    """

    rate: float
    tuple_bytes: float | None


@dataclass(frozen=True, eq=False)
class Executors:
    """What single executors do, NaN where it is not known.

    Attributes:
        executed: (n_executors,) tuples per second taken.
        emitted: (n_executors,) tuples per second emitted over user streams.
        execute_ms: (n_executors,) time per tuple.
    """

    executed: FloatArray
    emitted: FloatArray
    execute_ms: FloatArray


@dataclass(frozen=True, eq=False)
class MeasuredRates:
    """What the rates collector measured of one topology.

    Attributes:
        age_s: Time since it was published, s.
        taken: By (source component, stream, target component).
        emitted: Tuples per second by (component, stream).
        least_rate: Tuples per second of which a single one is counted in a window: a stream on which nothing
            was counted carries less.
        first_task: (n_listed,) lowest task of each executor that is listed, ascending.
        listed: What these do.
        complete: False if executors have no statistics.
        missing: Some of these by name.
    """

    age_s: float
    taken: Mapping[tuple[str, str, str], Taken]
    emitted: Mapping[tuple[str, str], float]
    least_rate: float
    first_task: IntArray
    listed: Executors
    complete: bool
    missing: tuple[str, ...]

    def executors(self, topology: Topology) -> Executors:
        """Return what the executors of the topology do, in its order."""
        wanted = np.array(topology.executor_first_task, dtype=np.int64)
        place = np.searchsorted(self.first_task, wanted)
        # One more at the end stands for all that are not listed.
        first_task = np.append(self.first_task, -1)
        place[first_task[place] != wanted] = len(self.first_task)
        listed = self.listed
        executed, emitted, execute_ms = (
            np.append(column, np.nan)[place]
            for column in (listed.executed, listed.emitted, listed.execute_ms)
        )
        return Executors(executed, emitted, execute_ms)

    def summary(self, topology: Topology) -> str:
        """One phrase for status lines: `rates measured 12 s ago (2 of 8 executors without statistics)`."""
        told = f"rates measured {self.age_s:.0f} s ago"
        if self.complete:
            return told
        if self.first_task.size:
            lost = int(np.isnan(self.executors(topology).executed).sum())
            return f"{told} ({lost} of {topology.n_executors} executors without statistics)"
        least = "at least " if len(self.missing) >= _NAMED else ""
        plural = "" if len(self.missing) == 1 else "s"
        return f"{told} ({least}{len(self.missing)} executor{plural} without statistics)"


@dataclass(frozen=True)
class Rates:
    """The rates readings that are believed, and what is wrong with the others.

    Attributes:
        by_topology: Believed ones by topology id.
        stale: Topologies whose reading is older than its lifetime, sorted.
        faults: One phrase per malformed or contradictory reading.
        refused: Number of these by kind of fault.
    """

    by_topology: Mapping[str, MeasuredRates]
    stale: tuple[str, ...]
    faults: tuple[str, ...]
    refused: Mapping[PayloadFault, int]


def read_rates(request: PlanRequest) -> Rates:
    """Parse the rates readings of a request.

    A reading counts as missing, never as zero, if it is older than the lifetime that it states.

    Args:
        request: The round; readings of topologies that it does not hold are left aside.
    """
    topologies = {topology.id for topology in request.topologies}
    by_topology: dict[str, MeasuredRates] = {}
    stale: list[str] = []
    faults: list[tuple[PayloadFault, str]] = []
    for reading in request.readings:
        if reading.kind is not ReadingKind.RATES or reading.name not in topologies:
            continue
        try:
            payload = _RatesPayload.model_validate_json(reading.payload)
        except ValidationError as error:
            faults.append((kind_of(error), f"rates of {reading.name} are malformed ({first_fault(error)})"))
            continue
        if payload.topology != reading.name:
            phrase = f"rates of {reading.name} say that they are of {payload.topology}"
            faults.append((PayloadFault.FOREIGN, phrase))
        elif reading.name in by_topology or reading.name in stale:
            faults.append((PayloadFault.DUPLICATE, f"rates of {reading.name} occur twice"))
        elif reading.age_ms > payload.lifetime_s * 1000:
            stale.append(reading.name)
        else:
            by_topology[reading.name] = _measured(payload, reading)
    return Rates(
        by_topology,
        tuple(sorted(stale)),
        tuple(phrase for _, phrase in faults),
        Counter(kind for kind, _ in faults),
    )


def _measured(payload: _RatesPayload, reading: Reading) -> MeasuredRates:
    listed = payload.executors
    first_task = np.array([] if listed is None else listed.first_task, dtype=np.int64)
    order = np.argsort(first_task)
    columns = ((), (), ()) if listed is None else (listed.executed, listed.emitted, listed.execute_ms)
    # None becomes NaN.
    executed, emitted, execute_ms = (np.array(column, dtype=np.float64)[order] for column in columns)
    return MeasuredRates(
        age_s=reading.age_ms / 1000.0,
        taken={
            (each.source, each.stream, each.to): Taken(each.rate, each.tuple_bytes)
            for each in payload.streams
        },
        emitted={(each.component, each.stream): each.rate for each in payload.emitted},
        least_rate=1.0 / (payload.window_s * payload.sample_rate),
        first_task=first_task[order],
        listed=Executors(executed, emitted, execute_ms),
        complete=payload.complete,
        missing=tuple(payload.missing),
    )
