"""What a synthetic topology does: operators with their work, streams with their rates."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_TUPLES = 1_000_000
"""Source tuples of a run: what collecting keeps in memory grows with them."""
MOST_WORK_MS = 10_000.0
"""Work per tuple: a component that is silent for longer would be taken for dead."""
MOST_TUPLE_BYTES = 1_000_000.0
"""Size of a tuple: messages between workers are of 5 MB at most."""
MOST_WARM_UP_S = 3_600.0

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class WorkloadError(ValueError):
    """No topology can be made of it; the message is one sentence."""


class Work(StrEnum):
    """How an operator spends its time on a tuple.

    `WAIT` sleeps: each operator behaves as on a processor of its own, however few this machine has. `BUSY`
    takes so much time of a processor.
    """

    WAIT = "wait"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class WorkOperator:
    """An operator: one component with one executor.

    Attributes:
        name: Its name in the application.
        component: Id of its component.
        work_ms: Work per tuple.
    """

    name: str
    component: str
    work_ms: float


@dataclass(frozen=True, slots=True)
class WorkStream:
    """A stream between two operators.

    Attributes:
        source: Index of the operator that emits.
        target: Index of the operator that takes.
        rate: Tuples per second.
        tuple_bytes: Bytes of a tuple's values.
        critical: False for feedback and the like: its tuples are counted at their target, and end there.
    """

    source: int
    target: int
    rate: float
    tuple_bytes: float
    critical: bool


@dataclass(frozen=True, slots=True)
class Workload:
    """An application to run; critical streams form no cycle.

    Attributes:
        operators: At least two.
        streams: Their index is their number in trails and ids.
        work: How operators spend their time.
        tuples: Tuples that all sources together emit on critical streams and that are measured.
        warm_up_s: Time for which sources emit before; nothing of it is measured.

    Raises:
        WorkloadError: A number is out of range, a rate is 0, an operator has no critical stream or more work
            than time, or a stream leads to a source.
    """

    operators: tuple[WorkOperator, ...]
    streams: tuple[WorkStream, ...]
    work: Work
    tuples: int
    warm_up_s: float

    def __post_init__(self) -> None:
        if not 1 <= self.tuples <= MOST_TUPLES:
            raise WorkloadError(f"{self.tuples} tuples: there must be 1 to {MOST_TUPLES}")
        if not 0.0 <= self.warm_up_s <= MOST_WARM_UP_S:
            raise WorkloadError(f"a warm-up of {self.warm_up_s:g} s: it must be 0 to {MOST_WARM_UP_S:g} s")
        for stream in self.streams:
            self._check_stream(stream)
        for index in range(len(self.operators)):
            self._check_operator(index)
        sources = self.sources
        if not sources:
            raise WorkloadError("no operator is a source: all of them wait for others")
        for k, stream in enumerate(self.streams):
            if stream.target in sources:
                raise WorkloadError(
                    f"stream {self.stream_name(k)} leads to a source: Storm's spouts take no tuples"
                )

    @property
    def sources(self) -> tuple[int, ...]:
        """Operators that no critical stream enters."""
        return tuple(index for index in range(len(self.operators)) if not self.entering(index))

    @property
    def sinks(self) -> tuple[int, ...]:
        """Operators that no critical stream leaves."""
        return tuple(i for i in range(len(self.operators)) if not self._critical(self.leaving(i)))

    @property
    def duration_s(self) -> float:
        """Time for which sources emit tuples that are measured."""
        return self.tuples / math.fsum(
            self.streams[k].rate for index in self.sources for k in self._critical(self.leaving(index))
        )

    def entering(self, operator: int) -> tuple[int, ...]:
        """Critical streams that enter an operator."""
        return tuple(k for k, each in enumerate(self.streams) if each.critical and each.target == operator)

    def leaving(self, operator: int) -> tuple[int, ...]:
        """All streams that leave an operator."""
        return tuple(k for k, each in enumerate(self.streams) if each.source == operator)

    def index_of(self, component: str) -> int:
        """Return the operator of a component.

        Raises:
            WorkloadError: There is none.
        """
        for index, operator in enumerate(self.operators):
            if operator.component == component:
                return index
        raise WorkloadError(f"component {component!r} is no operator of the application")

    def stream_name(self, stream: int) -> str:
        """Return `SOURCE -> TARGET`."""
        ends = self.streams[stream]
        return f"{self.operators[ends.source].name} -> {self.operators[ends.target].name}"

    def way(self, streams: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of the operators along consecutive streams."""
        first = self.operators[self.streams[streams[0]].source].name
        return (first, *(self.operators[self.streams[k].target].name for k in streams))

    def to_conf(self) -> dict[str, Any]:
        """Return it as JSON-like values, for a topology's configuration."""
        return asdict(self)

    @classmethod
    def from_conf(cls, conf: object) -> Self:
        """Read what `to_conf` returns.

        Raises:
            WorkloadError: It is anything else.
        """
        try:
            if not isinstance(conf, Mapping):
                raise TypeError("no object")  # noqa: TRY301 - one kind of error for all that is not as expected
            return cls(
                operators=tuple(WorkOperator(**each) for each in conf["operators"]),
                streams=tuple(WorkStream(**each) for each in conf["streams"]),
                work=Work(conf["work"]),
                tuples=conf["tuples"],
                warm_up_s=conf["warm_up_s"],
            )
        except (KeyError, TypeError) as error:
            raise WorkloadError(f"this is no workload: {error}") from error

    def _critical(self, streams: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(k for k in streams if self.streams[k].critical)

    def _check_stream(self, stream: WorkStream) -> None:
        name = f"stream {self.operators[stream.source].name} -> {self.operators[stream.target].name}"
        if not 0.0 < stream.rate < math.inf:
            raise WorkloadError(f"{name} has rate {stream.rate:g}: nothing would ever come")
        if not 0.0 <= stream.tuple_bytes <= MOST_TUPLE_BYTES:
            raise WorkloadError(
                f"{name} has tuples of {stream.tuple_bytes:g} bytes: at most {MOST_TUPLE_BYTES:g} can be sent"
            )

    def _check_operator(self, index: int) -> None:
        operator = self.operators[index]
        if not 0.0 <= operator.work_ms <= MOST_WORK_MS:
            raise WorkloadError(
                f"operator {operator.name} has {operator.work_ms:g} ms of work per tuple: at most "
                f"{MOST_WORK_MS:g} can be done"
            )
        given = self.entering(index) or self._critical(self.leaving(index))
        if not given:
            raise WorkloadError(f"operator {operator.name} has no critical stream: nothing would reach it")
        rate = math.fsum(self.streams[k].rate for k in given)
        share = rate * operator.work_ms / 1000.0
        if share >= 1.0:
            raise WorkloadError(
                f"operator {operator.name} would have {share:.3g} s of work per second ({rate:g} tuples/s of "
                f"{operator.work_ms:g} ms): scale the rates by less than {1.0 / share:.2g}"
            )


def component_ids(names: Iterable[str]) -> tuple[str, ...]:
    """Return ids that Storm takes, one per operator: letters, digits, `-` and `_`, each id once.

    Storm keeps ids that begin with `__` for itself.
    """
    taken: dict[str, None] = {}
    for name in names:
        safe = _UNSAFE.sub("_", name).lstrip("_") or "operator"
        number, identity = 1, safe
        while identity in taken:
            number += 1
            identity = f"{safe}-{number}"
        taken[identity] = None
    return tuple(taken)
