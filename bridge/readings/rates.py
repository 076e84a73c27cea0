"""Measured rates of topologies: which readings are believed, and why the others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from pydantic import TypeAdapter, ValidationError

from bridge.readings.payload_faults import PayloadFault, first_fault, kind_of
from bridge.readings.payload_text import text_of
from bridge.wire.messages import ReadingKind
from formats.counted import counted
from formats.rates_reading import MAX_NAMED, RatesFields
from formats.week_curve import HOUR_S
from scheduler.base.arrays import floats, ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bridge.wire.messages import PlanRequest, Reading, Topology
    from scheduler.base.arrays import FloatArray, IntArray

_READING = TypeAdapter(RatesFields)


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
        busy: Time that all executors of a component spend in executions, percent of one core, by component.
        running_s: Age of the workers that began to run lately, s, by the lowest task of each executor.
        worked_s: Time since these executors took or emitted their first tuple, s, where that is known; None
            if the collector does not say it.
        ready_s: Time since those of them were there that had no tuple yet, s.
        complete_ms: Mean time from the spouts' emissions to their acknowledgement, None if it is not known.
        hours_ahead: By what factor sources usually emit more in each of the next hours than in the present
            one, None where that is not known; empty if nothing is.
        hour_left_s: Time until the first of these begins, s.
    """

    age_s: float
    taken: Mapping[tuple[str, str, str], Taken]
    emitted: Mapping[tuple[str, str], float]
    least_rate: float
    first_task: IntArray
    listed: Executors
    complete: bool
    missing: tuple[str, ...]
    busy: Mapping[str, float] = field(default_factory=dict)
    running_s: Mapping[int, float] = field(default_factory=dict)
    worked_s: Mapping[int, float] | None = None
    ready_s: Mapping[int, float] = field(default_factory=dict)
    complete_ms: float | None = None
    hours_ahead: tuple[float | None, ...] = ()
    hour_left_s: float = HOUR_S

    def executors(self, topology: Topology) -> Executors:
        """Return what the executors of the topology do, in its order."""
        if not self.first_task.size:
            unknown = np.full(topology.n_executors, np.nan)
            return Executors(unknown, unknown, unknown)
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
        """One phrase for status lines: `rates measured (2 of 8 executors without statistics)`."""
        if self.complete:
            return "rates measured"
        if self.first_task.size:
            lost = int(np.isnan(self.executors(topology).executed).sum())
            executors = counted(topology.n_executors, "executor")
            return f"rates measured ({lost} of {executors} without statistics)"
        least = "at least " if len(self.missing) >= MAX_NAMED else ""
        return f"rates measured ({least}{counted(len(self.missing), 'executor')} without statistics)"


_NO_EXECUTORS = Executors(floats([]), floats([]), floats([]))
UNMEASURED = MeasuredRates(0.0, {}, {}, 0.0, ints([]), _NO_EXECUTORS, complete=False, missing=())
"""Rates of a topology of which nothing was measured."""


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
            fields = _READING.validate_json(text_of(reading.payload))
        except ValidationError as error:
            faults.append((kind_of(error), f"rates of {reading.name} are malformed ({first_fault(error)})"))
            continue
        if fields["topology"] != reading.name:
            phrase = f"rates of {reading.name} say that they are of {fields['topology']}"
            faults.append((PayloadFault.FOREIGN, phrase))
        elif reading.name in by_topology or reading.name in stale:
            faults.append((PayloadFault.DUPLICATE, f"rates of {reading.name} occur twice"))
        elif reading.age_ms > fields["lifetime_s"] * 1000:
            stale.append(reading.name)
        else:
            by_topology[reading.name] = _rates_of(fields, reading)
    return Rates(
        by_topology,
        tuple(sorted(stale)),
        tuple(phrase for _, phrase in faults),
        Counter(kind for kind, _ in faults),
    )


def _rates_of(fields: RatesFields, reading: Reading) -> MeasuredRates:
    listed = fields.get("executors") or {"first_task": [], "executed": [], "emitted": [], "execute_ms": []}
    first_task = np.array(listed["first_task"], dtype=np.int64)
    order = np.argsort(first_task)
    columns = (listed["executed"], listed["emitted"], listed["execute_ms"])
    # None becomes NaN.
    executed, emitted, execute_ms = (np.array(column, dtype=np.float64)[order] for column in columns)
    age_s = reading.age_ms / 1000.0
    hours_ahead, hour_left_s = _ahead(fields, age_s)
    return MeasuredRates(
        age_s=age_s,
        taken={
            (edge["from"], edge["stream"], edge["to"]): Taken(edge["rate"], edge.get("tuple_bytes"))
            for edge in fields["streams"]
        },
        emitted={(stream["component"], stream["stream"]): stream["rate"] for stream in fields["emitted"]},
        least_rate=1.0 / (fields["window_s"] * fields["sample_rate"]),
        first_task=first_task[order],
        listed=Executors(executed, emitted, execute_ms),
        complete=fields["complete"],
        missing=tuple(fields["missing"]),
        busy={each["component"]: each["percent"] for each in fields.get("busy", ())},
        running_s=_ages(fields.get("started", ()), fields["time"] + age_s),
        worked_s=None if (worked := fields.get("worked")) is None else _ages(worked, fields["time"] + age_s),
        ready_s=_ages(fields.get("ready", ()), fields["time"] + age_s),
        complete_ms=fields.get("complete_ms"),
        hours_ahead=hours_ahead,
        hour_left_s=hour_left_s,
    )


def _ages(moments: Iterable[tuple[int, list[int]]], now_s: float) -> dict[int, float]:
    """Return how long ago that was for each task; by the collector's clock alone.

    The shim has counted how old the reading is.
    """
    return {task: now_s - moment_s for moment_s, tasks in moments for task in tasks}


def _ahead(fields: RatesFields, age_s: float) -> tuple[tuple[float | None, ...], float]:
    """Return the forecast as of now, and when its first hour begins, s.

    Hours that have begun since the reading was published are over as hours to come: the present is theirs.
    """
    factors = [1.0, *fields.get("hours_ahead", [])]
    since_s = fields["time"] % HOUR_S + age_s
    begun = int(since_s // HOUR_S)
    left_s = HOUR_S - since_s % HOUR_S
    present = factors[begun] if begun < len(factors) else None
    if not present:
        return (), left_s
    return tuple(None if each is None else each / present for each in factors[begun + 1 :]), left_s
