"""Tuples as events: each operator is one first-in-first-out server, which stands still while it moves.

A tuple that enters goes along all streams; its latency ends when the last of its copies is done. An operator
that moves loads image and state, then starts; those that come to the same node at once share its rate. What
waits there is kept for it, or lost (a Storm worker that ends takes its queues along) and sent again by the
source after the message timeout.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import FloatArray

Kind = Literal["arrives", "done", "moves", "returns"]


@dataclass(frozen=True)
class Pipeline:
    """What tuples go through.

    Attributes:
        sources: Operators at which tuples enter.
        targets: By operator, the operators that get what it emits.
    """

    sources: tuple[str, ...]
    targets: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Stage:
    """A time in which operators run somewhere, until the next one begins.

    Attributes:
        at_s: When it begins, s.
        service_s: By operator, time per tuple where it runs.
        delay_s: By pair of operators, the delay of the stream between them.
        pull_s: By operator that has moved, s from the beginning until image and state are there.
    """

    at_s: float
    service_s: Mapping[str, float]
    delay_s: Mapping[tuple[str, str], float]
    pull_s: Mapping[str, float]


@dataclass(frozen=True)
class Moving:
    """What a move does to tuples.

    Attributes:
        start_s: Time that an operator takes to start once it is loaded, s.
        loses: Whether what waits at an operator that moves is lost and sent again.
        timeout_s: Time after which the source sends a lost tuple again, s.
    """

    start_s: float = 7.5
    loses: bool = False
    timeout_s: float = 30.0


@dataclass(frozen=True)
class Traffic:
    """What became of the tuples.

    Attributes:
        arrived_s: (n_tuples,) when each first entered, s.
        latency_s: (n_tuples,) until its last copy was done, s.
        replayed: How often a tuple was sent again.
    """

    arrived_s: FloatArray
    latency_s: FloatArray
    replayed: int


class _Event(NamedTuple):
    at_s: float
    order: int
    kind: Kind
    operator: str
    number: int
    attempt: int


class _Copy(NamedTuple):
    number: int
    attempt: int


@dataclass
class _Server:
    waiting: deque[_Copy] = field(default_factory=deque)
    serves: _Copy | None = None
    turn: int = 0  # of the service that is under way: an earlier one's end counts no more
    back_s: float = -math.inf


def run_tuples(
    pipeline: Pipeline, stages: Sequence[Stage], arrivals_s: FloatArray, moving: Moving | None = None
) -> Traffic:
    """Let tuples go through operators that move from stage to stage, until all are done.

    Args:
        pipeline: Operators and streams.
        stages: In the order of time; the first one begins before all arrivals.
        arrivals_s: (n_tuples,) when each enters, ascending, s.
        moving: What moves do.
    """
    run = _TupleRun(pipeline, stages, arrivals_s, Moving() if moving is None else moving)
    return run.traffic()


class _TupleRun:
    def __init__(
        self, pipeline: Pipeline, stages: Sequence[Stage], arrivals_s: FloatArray, moving: Moving
    ) -> None:
        self._pipeline = pipeline
        self._stages = stages
        self._moving = moving
        self._stage = stages[0]
        self._servers = {operator: _Server() for operator in stages[0].service_s}
        self._events: list[_Event] = []
        self._order = count()
        self._arrived = arrivals_s
        self._latency = np.full(arrivals_s.size, np.inf)
        self._attempt = [0] * arrivals_s.size
        self._open = [0] * arrivals_s.size
        self._replayed = 0
        for number, stage in enumerate(stages[1:], start=1):
            self._push(stage.at_s, "moves", "", number)
        for number, at_s in enumerate(arrivals_s.tolist()):
            self._enter(number, at_s)

    def traffic(self) -> Traffic:
        """Work off all events."""
        while self._events:
            event = heapq.heappop(self._events)
            if event.kind == "moves":
                self._move(event.at_s, self._stages[event.number])
                continue
            server = self._servers[event.operator]
            if event.kind == "arrives":
                server.waiting.append(_Copy(event.number, event.attempt))
            elif event.kind == "done":
                if event.number != server.turn or server.serves is None:
                    continue
                self._emit(event.operator, server.serves, event.at_s)
                server.serves = None
            self._serve(event.operator, event.at_s)
        return Traffic(self._arrived, self._latency, self._replayed)

    def _push(self, at_s: float, kind: Kind, operator: str, number: int, attempt: int = 0) -> None:
        heapq.heappush(self._events, _Event(at_s, next(self._order), kind, operator, number, attempt))

    def _enter(self, number: int, at_s: float) -> None:
        self._open[number] = len(self._pipeline.sources)
        for source in self._pipeline.sources:
            self._push(at_s, "arrives", source, number, self._attempt[number])

    def _serve(self, operator: str, now_s: float) -> None:
        server = self._servers[operator]
        if server.serves is not None or not server.waiting or now_s < server.back_s:
            return
        server.serves = server.waiting.popleft()
        server.turn += 1
        self._push(now_s + self._stage.service_s[operator], "done", operator, server.turn)

    def _emit(self, operator: str, copy: _Copy, now_s: float) -> None:
        targets = self._pipeline.targets.get(operator, ())
        for target in targets:
            delay_s = self._stage.delay_s[operator, target]
            self._push(now_s + delay_s, "arrives", target, copy.number, copy.attempt)
        # what is left of an attempt that was given up counts for nothing, but takes its time
        if copy.attempt != self._attempt[copy.number]:
            return
        self._open[copy.number] += len(targets) - 1
        if self._open[copy.number] == 0:
            self._latency[copy.number] = now_s - self._arrived[copy.number]

    def _move(self, now_s: float, stage: Stage) -> None:
        self._stage = stage
        for operator, pull_s in stage.pull_s.items():
            server = self._servers[operator]
            held = [] if server.serves is None else [server.serves]
            server.serves, server.turn = None, server.turn + 1
            held += server.waiting
            server.waiting.clear()
            if self._moving.loses:
                for copy in held:
                    self._lose(copy, now_s)
            else:
                server.waiting.extend(held)
            server.back_s = now_s + pull_s + self._moving.start_s
            self._push(server.back_s, "returns", operator, 0)

    def _lose(self, copy: _Copy, now_s: float) -> None:
        if copy.attempt != self._attempt[copy.number]:
            return
        self._attempt[copy.number] += 1
        self._replayed += 1
        self._enter(copy.number, now_s + self._moving.timeout_s)
