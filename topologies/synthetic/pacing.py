"""Paces a source: by the clock, evenly, each of its streams at a rate of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PacedStream:
    """What a source emits on one stream.

    Attributes:
        stream: Number of the stream.
        rate: Tuples per second.
        warm_up: Tuples that are not measured; their numbers are 0 and less.
        measured: Tuples after these; their numbers begin with 1.
    """

    stream: int
    rate: float
    warm_up: int
    measured: int


class Pacer:
    """Says which tuple is due; streams take turns, as one stream that is divided among them would.

    What is late is made up for, but nothing that is more than `backlog_s` late: that is skipped, and counted.

    Args:
        streams: At least one.
        start_s: When the first tuple is due, in seconds of the caller's clock.
        backlog_s: Greatest delay with which a tuple is still emitted.

    Attributes:
        skipped: Tuples that were not emitted at all, those of the warm-up included.
        skipped_measured: Those of them that were to be measured.
    """

    def __init__(self, streams: tuple[PacedStream, ...], start_s: float, backlog_s: float) -> None:
        self._streams = streams
        self._start_s = start_s
        self._backlog_s = backlog_s
        self._emitted = [0] * len(streams)
        self.skipped = 0
        self.skipped_measured = 0

    @property
    def done(self) -> bool:
        """Whether no tuple is left."""
        return self._next() is None

    def wait_s(self, now_s: float) -> float:
        """Return how long to wait for the next tuple; 0 if it is due or none is left."""
        k = self._next()
        return 0.0 if k is None else max(0.0, self._due_s(k) - now_s)

    def take(self, now_s: float) -> tuple[int, int] | None:
        """Return stream and number of a tuple that is due, or None."""
        for k in range(len(self._streams)):
            self._skip(k, now_s)
        chosen = self._next()
        if chosen is None or self._due_s(chosen) > now_s:
            return None
        self._emitted[chosen] += 1
        return self._streams[chosen].stream, self._emitted[chosen] - self._streams[chosen].warm_up

    def _next(self) -> int | None:
        """Return the stream whose next tuple is due first."""
        left = [k for k, each in enumerate(self._streams) if self._emitted[k] < each.warm_up + each.measured]
        return min(left, key=self._due_s, default=None)

    def _due_s(self, k: int) -> float:
        return self._start_s + (self._emitted[k] + k / len(self._streams)) / self._streams[k].rate

    def _skip(self, k: int, now_s: float) -> None:
        stream = self._streams[k]
        late_s = now_s - self._backlog_s - self._due_s(k)
        if late_s <= 0.0:
            return
        left = stream.warm_up + stream.measured - self._emitted[k]
        count = min(left, math.ceil(late_s * stream.rate))
        unmeasured = min(count, max(0, stream.warm_up - self._emitted[k]))
        self._emitted[k] += count
        self.skipped += count
        self.skipped_measured += count - unmeasured
