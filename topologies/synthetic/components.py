"""The components of every synthetic topology; each learns its operator from its id and configuration."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

from topologies.component import HardenedBolt, HardenedSpout
from topologies.moments import now_us
from topologies.synthetic import journey
from topologies.synthetic.arrivals import ArrivalWriter
from topologies.synthetic.configuration import SyntheticSettings
from topologies.synthetic.journey import stream_id, stream_number
from topologies.synthetic.labour import labour, padding, size_of
from topologies.synthetic.pacing import PacedStream, Pacer
from topologies.synthetic.selectivity import Selectivity
from topologies.synthetic.totals import OperatorTotals

if TYPE_CHECKING:
    from pystorm.component import Tuple

HOST_KEY = "storm.local.hostname"
BACKLOG_S = 3.0
"""What a source is later with than this it skips."""
_PAUSE_S = 0.005
_REPORTED_EVERY_S = 5.0
_ANSWER_S = 5.0


class _Operator:
    """What sources, inner operators and sinks have in common; mixed into streamparse's classes."""

    component_name: str
    settings: SyntheticSettings
    totals: OperatorTotals

    def _begin(self, storm_conf: dict[str, Any]) -> None:
        self.settings = SyntheticSettings.from_conf(storm_conf)
        workload = self.settings.workload
        # of the supervisor's storm.yaml: a component's configuration is that of its worker
        speedup = self.settings.speedups.get(str(storm_conf.get(HOST_KEY)), 1.0)
        self.index = workload.index_of(self.component_name)
        self.leaving = workload.leaving(self.index)
        self.work = labour(workload.work, workload.operators[self.index].work_ms / speedup)
        self.totals = OperatorTotals(self.component_name, workload.entering(self.index))

    def _send(self, stream: int, number: int, trail: str, **more: str) -> None:
        load = padding(number, trail, self.settings.workload.streams[stream].tuple_bytes)
        if number > 0:
            self.totals.count_sent(stream, size_of(number, trail, load))
        self.emit([number, trail, load], stream=stream_id(stream), **more)  # type: ignore[attr-defined]  # streamparse's

    def _send_markers(self) -> None:
        for stream in self.leaving:
            self.emit([0, "", self.totals.load()], stream=stream_id(stream))  # type: ignore[attr-defined]  # likewise


class Source(_Operator, HardenedSpout):
    """Emits at its streams' rates, first the warm-up, then what is measured, then the end markers."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Read the workload; the clock starts with the first call for a tuple."""
        self._begin(storm_conf)
        self._pacer: Pacer | None = None
        self._open: dict[str, tuple[int, int, str]] = {}
        self._ended = False
        self._reported_skipped = 0
        self._reported_s = -math.inf

    def next_tuple(self) -> None:
        """Emit the tuple that is due, or rest for some milliseconds."""
        now_s = time.monotonic()
        if self._pacer is None:
            self._pacer = Pacer(self._streams(), now_s, BACKLOG_S)
        due = self._pacer.take(now_s)
        self._report_skipped(self._pacer, now_s)
        if due is not None:
            stream, number = due
            emit_us = now_us()
            self.work()
            trail = journey.begin(emit_us, now_us())
            if self.settings.replay:
                identity = f"{stream}:{number}"
                self._open[identity] = (stream, number, trail)
                self._send(stream, number, trail, tup_id=identity)
            else:
                self._send(stream, number, trail)
        elif not self._pacer.done:
            time.sleep(min(self._pacer.wait_s(now_s), _PAUSE_S))
        elif not self._ended and not self._open:
            self.totals.skipped = self._pacer.skipped_measured
            self._send_markers()
            self._ended = True
        else:
            time.sleep(_PAUSE_S)

    def ack(self, tup_id: str) -> None:
        """Forget a tuple that has come to all its ends."""
        self._open.pop(tup_id, None)

    def fail(self, tup_id: str) -> None:
        """Send a tuple again as it was, so that its delay counts from its first time on."""
        if tup_id not in self._open:
            return
        stream, number, trail = self._open[tup_id]
        if number > 0:
            self.totals.replayed += 1
        self._send(stream, number, trail, tup_id=tup_id)

    def _streams(self) -> tuple[PacedStream, ...]:
        workload = self.settings.workload
        return tuple(
            PacedStream(
                stream=k,
                rate=workload.streams[k].rate,
                warm_up=math.ceil(workload.warm_up_s * workload.streams[k].rate),
                measured=max(1, round(workload.duration_s * workload.streams[k].rate)),
            )
            for k in self.leaving
        )

    def _report_skipped(self, pacer: Pacer, now_s: float) -> None:
        if pacer.skipped > self._reported_skipped and now_s - self._reported_s >= _REPORTED_EVERY_S:
            self._reported_skipped = pacer.skipped
            self._reported_s = now_s
            self.report_error(
                f"{pacer.skipped} tuples skipped so far: they were due more than {BACKLOG_S:g} s ago, "
                "this source is too slow for its rates"
            )


class Inner(_Operator, HardenedBolt):
    """Works on each tuple that comes on a critical stream, and passes on what its rates ask for."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Read the workload."""
        self._begin(storm_conf)
        self.auto_anchor = self.settings.replay
        workload = self.settings.workload
        arriving_rate = math.fsum(workload.streams[k].rate for k in workload.entering(self.index))
        self._selectivity = Selectivity(arriving_rate, {k: workload.streams[k].rate for k in self.leaving})

    def process(self, tup: Tuple) -> None:
        """Take a tuple or an end marker."""
        in_us = now_us()
        number, trail, load = tup.values
        stream = stream_number(tup.stream)
        if not trail:
            if self.totals.marker(stream, load):
                self._send_markers()
            return
        if number > 0:
            self.totals.count_received(stream, in_us)
        if not self.settings.workload.streams[stream].critical:
            return
        self.work()
        extended = journey.extend(trail, stream, in_us, now_us())
        for onwards, copies in self._selectivity.pass_on(journey.path_of(trail, stream)):
            for _ in range(copies):
                self._send(onwards, number, extended)


class Sink(Inner):
    """Works on each tuple and writes its trail to Redis; at the end all counts.

    What leaves it, as acknowledgements do, are streams that are not critical.
    """

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read the workload; Redis is connected to with the first tuple."""
        super().initialize(storm_conf, context)
        self._writer = ArrivalWriter(self.settings.redis, self.settings.run.arrivals, self.report_error)
        self._has_begun = False
        self._has_to_finish = False

    def process(self, tup: Tuple) -> None:
        """Take a tuple or an end marker."""
        in_us = now_us()
        if not self._has_begun:
            self._has_begun = True
            self._writer.write({"plan": self._plan()})
        ended_before = self.totals.ended
        super().process(tup)
        if self.totals.ended and not ended_before:
            self._has_to_finish = True
            self._finish()
        number, trail, _ = tup.values
        stream = stream_number(tup.stream)
        if trail and number > 0 and self.settings.workload.streams[stream].critical:
            done = journey.extend(trail, stream, in_us, now_us())
            self._writer.write({"sink": self.component_name, "n": number, "trail": done}, tuples=1)

    def process_tick(self, tup: Tuple) -> None:  # noqa: ARG002 - Storm's
        """Look whether Redis is still there; write the end if it was not."""
        self._writer.check()
        if self._has_to_finish:
            self._finish()

    def _finish(self) -> None:
        """Write the end, when Redis has all that is before it or will never have it."""
        if not self._writer.flush(_ANSWER_S):
            return
        self.totals.unwritten = self._writer.lost
        entry = {"end": self.component_name, "totals": self.totals.load(), "plan": self._plan()}
        if self._writer.write(entry) and self._writer.flush(_ANSWER_S):
            self._has_to_finish = False

    def _plan(self) -> str:
        return json.dumps(self.settings.workload.to_conf(), separators=(",", ":"))
