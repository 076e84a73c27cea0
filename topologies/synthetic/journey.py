"""What a tuple carries, above all its trail: over which streams it came and when, as one text.

`EMIT OUT [STREAM IN OUT]...`: when its source began with it (unix microseconds); then, in microseconds after
that, when the source passed it on, and for each further operator the stream, when it took the tuple and when
its work was done.
"""

from __future__ import annotations

from dataclasses import dataclass

FIELDS = ("n", "trail", "load")
"""Fields of every tuple: number in its source's stream (1 or more: measured), trail, padding.

The end marker of a stream has an empty trail; its load are the totals of what lies before.
"""

_STEP = 3


def stream_id(stream: int) -> str:
    """Return Storm's id of a stream, by its number in the workload."""
    return f"s{stream}"


def stream_number(identity: str) -> int:
    """Return a stream's number in the workload, by its id."""
    return int(identity[1:])


def begin(emit_us: int, out_us: int) -> str:
    """Return the trail that a source begins, both moments as unix microseconds."""
    return f"{emit_us} {out_us - emit_us}"


def extend(trail: str, stream: int, in_us: int, out_us: int) -> str:
    """Return a trail with one operator more, its moments as unix microseconds."""
    emit_us = int(trail[: trail.index(" ")])
    return f"{trail} {stream} {in_us - emit_us} {out_us - emit_us}"


def path_of(trail: str, stream: int) -> tuple[int, ...]:
    """Return the streams over which a tuple came, the one on which it comes now included."""
    return (*map(int, trail.split(" ")[2::_STEP]), stream)


@dataclass(frozen=True, slots=True)
class Journey:
    """A trail from source to sink, in numbers.

    Attributes:
        emit_us: When the source began with the tuple, unix microseconds.
        path: (n_hops,) streams.
        in_us: (n_hops,) when their targets took the tuple, microseconds after `emit_us`.
        out_us: (n_hops + 1,) when source and targets had done their work, likewise.
    """

    emit_us: int
    path: tuple[int, ...]
    in_us: tuple[int, ...]
    out_us: tuple[int, ...]

    @property
    def delay_us(self) -> int:
        """Time from the source's beginning to the sink's end."""
        return self.out_us[-1]

    @property
    def work_us(self) -> int:
        """Time that operators had the tuple: without ways, queues and all else."""
        came_us = (0, *self.in_us)
        return sum(self.out_us) - sum(came_us)


def parse(trail: str) -> Journey:
    """Read a trail.

    Raises:
        ValueError: It is none that reached a sink.
    """
    emit_us, *rest = map(int, trail.split(" "))
    journey = Journey(emit_us, tuple(rest[1::_STEP]), tuple(rest[2::_STEP]), tuple(rest[0::_STEP]))
    if not journey.path or not len(journey.path) == len(journey.in_us) == len(journey.out_us) - 1:
        raise ValueError(f"{trail!r} is no trail of a tuple that reached a sink")
    return journey
