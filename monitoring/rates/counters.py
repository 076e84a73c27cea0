"""The counters of a topology's executors at one moment, as Nimbus has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ACKER = "__acker"
ACKED = "__ack_ack"
FAILED = "__ack_fail"
SYSTEM = "__"
"""Ids of components and streams that Storm adds itself begin so."""

_ACK = "__ack_"


class Stream(NamedTuple):
    """A stream of a component."""

    component: str
    id: str


@dataclass(frozen=True, slots=True)
class Counters:
    """Counters of one executor since its worker's start, rendered by the worker at `uptime_s`.

    Attributes:
        uptime_s: Age of the worker when it rendered them, whole s; moves only when they are rendered anew.
        step: What counters advance by: 1 / `topology.stats.sample.rate`.
        emitted: Stream id -> tuples emitted.
        transferred: Stream id -> copies of them sent to tasks.
        executed: Stream -> tuples taken from it. A spout's are those that the ackers sent to it: one per tree
            of tuples that it counts as acked or failed.
        execute_ms: Stream -> ms spent in the sampled executions; None where Storm does not measure it
            (spouts; a component in another process, where it times only the handing over).
        busy_ms: ms spent in executions of tuples of all streams, ticks too; None likewise.
        complete_ms: ms from emission to acknowledgement of all trees of tuples that a spout counts as acked,
            added up; None where Storm does not measure it (bolts).
    """

    uptime_s: int
    step: float
    emitted: Mapping[str, int]
    transferred: Mapping[str, int]
    executed: Mapping[Stream, int]
    execute_ms: Mapping[Stream, float] | None
    busy_ms: float | None = None
    complete_ms: float | None = None

    @property
    def done(self) -> int:
        """Tuples that it has taken, or emitted if these are more: a spout emits before it takes any."""
        return max(sum(self.executed.values()), sum(self.emitted.values()))

    def precedes(self, later: Counters) -> bool:
        """Say whether `later` can come from the same run of the worker: nothing has gone back."""
        return self.uptime_s <= later.uptime_s and all(
            _no_less(before, after)
            for before, after in (
                (self.emitted, later.emitted),
                (self.transferred, later.transferred),
                (self.executed, later.executed),
            )
        )


def _no_less(before: Mapping[Any, int], after: Mapping[Any, int]) -> bool:
    return all(after.get(key, 0) >= count for key, count in before.items())


@dataclass(frozen=True, slots=True)
class ExecutorLook:
    """One executor as Nimbus lists it.

    Attributes:
        component: Id of its component.
        first_task: Its first task.
        last_task: Its last task.
        host: Host of its worker, as the supervisor names itself.
        port: Port of its worker slot.
        counters: None where there are none that can be used.
        fault: What is wrong with the counters that Nimbus gave; empty if nothing is, or if it gave none.
        fault_kind: Its kind, empty likewise.
    """

    component: str
    first_task: int
    last_task: int
    host: str
    port: int
    counters: Counters | None
    fault: str = ""
    fault_kind: str = ""

    @property
    def name(self) -> str:
        """Component and first task, as in `bolt[7]`."""
        return f"{self.component}[{self.first_task}]"

    @property
    def tasks(self) -> int:
        """How many tasks it runs."""
        return self.last_task - self.first_task + 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What does not change about a topology: who subscribes to what.

    Attributes:
        inputs: Component -> streams that it takes, of user components and ackers only. Components that run
            without tasks (ackers that were switched off) are not there.
        spouts: Ids of the spouts.
        shells: Ids of the bolts that work in another process.
    """

    inputs: Mapping[str, tuple[Stream, ...]]
    spouts: frozenset[str] = frozenset()
    shells: frozenset[str] = frozenset()

    def edges(self) -> tuple[tuple[Stream, str], ...]:
        """Return (stream, component that takes it) wherever Storm counts what is taken, sorted.

        A spout counts of the ackers' streams those two that end a tree of tuples.
        """
        return tuple(
            sorted(
                (stream, to)
                for to, streams in self.inputs.items()
                for stream in streams
                if stream.component in self.inputs
                and (to not in self.spouts or stream in ((ACKER, ACKED), (ACKER, FAILED)))
            )
        )


def is_measured_component(component: str) -> bool:
    """Say whether a component takes part in the readings: user components and ackers."""
    return component == ACKER or not component.startswith(SYSTEM)


def is_measured_stream(stream: str) -> bool:
    """Say whether a stream takes part in the readings: user streams and those of acking."""
    return is_user_stream(stream) or stream.startswith(_ACK)


def is_user_stream(stream: str) -> bool:
    """Say whether the topology declares a stream itself."""
    return not stream.startswith(SYSTEM)
