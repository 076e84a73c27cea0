"""Puts a source's rows into a run's stream, phase by phase, and goes on where it was left."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from topologies.taxi.replay.check import ORDER_FAULTS
from topologies.taxi.replay.errors import FeedError, StoppedError
from topologies.taxi.replay.outcome import Outcome, Progress, fault_field, read_faults
from topologies.taxi.replay.patience import Patience
from topologies.taxi.replay.queue import LARGEST_ENTRY, RowQueue
from topologies.taxi.replay.stream import Released
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topologies.taxi.replay.check import Row
    from topologies.taxi.replay.open_source import Source
    from topologies.taxi.replay.pace import Limits, Pace, Phase
    from topologies.taxi.replay.rejects import RejectsFile
    from topologies.taxi.replay.stream import RunStream, Standing

_POLL_S = 0.02
_NAP_S = 0.05  # how soon a pause is noticed while nothing is due
_REPORT_S = 0.5
_TRIM_S = 0.5


class Replayer:
    """Feeds one source to one run.

    Args:
        source: The rows.
        stream: Where they go.
        phases: How.
        limits: How far.
        fields: What is kept in the hash `feed` besides where feeding stands. Rows of phases are counted there
            unless `fast_rows` and `paced_rows` are given.
        rejects: Where malformed rows are written; None: they are counted only.
        report: Called now and then with the progress.
        stopped: Whether the user has asked for a pause.
    """

    def __init__(
        self,
        source: Source,
        stream: RunStream,
        phases: Sequence[Phase],
        limits: Limits,
        *,
        fields: dict[str, str],
        rejects: RejectsFile | None = None,
        report: Callable[[Progress], None] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source = source
        self._stream = stream
        self._phases = phases
        self._limits = limits
        self._fields = fields | source.fingerprint
        self._rejects = rejects
        self._report = report
        self._stopped = stopped
        rows = [phase.rows for phase in phases if phase.rows is not None]
        self._rows = sum(rows) if len(rows) == len(phases) else source.rows
        self._counted = "fast_rows" in fields
        self._patience = Patience(
            limits.timeout_s, partial(self._report_now, "waiting"), stopped, self._relieve
        )
        self._queue = RowQueue(source.lines())
        self._outcome = Outcome()
        self._released = Released()
        self._lag_ms = 0.0
        self._reported_s = self._trimmed_s = 0.0

    def run(self, *, resume: bool = False) -> Outcome:
        """Feed until the end is written, or the user asks for a pause.

        Args:
            resume: Whether a run that has rows goes on behind them.

        Raises:
            RowsError: The source cannot be read; no row has been fed.
            FeedError: Feeding cannot begin, or not go on. What was fed stays, and can be gone on with.
            RedisError: Redis cannot be reached at the start, or refuses.
        """
        standing = self._stream.standing()
        if standing is not None and resume:
            self._go_on(standing)
        else:
            self._begin(standing, resume=resume)
        start_s = time.monotonic()
        with suppress(StoppedError):  # the outcome says that there is no end
            if not self._outcome.ended:
                self._feed_all()
        self._outcome.seconds = time.monotonic() - start_s
        return self._outcome

    def _begin(self, standing: Standing | None, *, resume: bool) -> None:
        if standing is None and self._rejects is not None:
            if resume:  # a first try that sent no row may have found rejects
                self._rejects.resume(1)
            else:
                self._rejects.begin()
        self._stream.begin({"fast_rows": "0", "paced_rows": "0"} | self._fields)

    def _go_on(self, standing: Standing) -> None:
        """Find the row behind those that were fed, and make sure that they are of this source."""
        feed = standing.feed
        for field, what in (("source_name", "name"), ("source_size", "size"), ("source_first", "beginning")):
            mended = field == "source_size" and "broken" in feed
            if not mended and feed.get(field) != self._fields[field]:
                raise FeedError(
                    f"the run was fed from a source with another {what}: {feed.get(field)}, "
                    f"and this one has {self._fields[field]}",
                    status=2,
                )
        self._outcome.fed = self._outcome.begun_at = standing.fed
        self._outcome.faults = read_faults(feed)
        self._outcome.ended = standing.ended
        if standing.ended:
            return
        self._report_now("finding the next row")
        try:
            self._queue.skip(standing.fed, standing.crc)
        except RowsError as error:
            raise FeedError(str(error)) from error
        self._stream.take_over(standing, self._fields)
        if self._rejects is not None:
            self._rejects.resume(standing.fed + 1)

    def _feed_all(self) -> None:
        try:
            for phase in self._phases:
                self._feed(phase)
        except RowsError as error:
            fed = self._outcome.fed
            if not fed:
                raise
            self._patience.insist(lambda: self._stream.note("broken", "1"))
            msg = f"{error}; rows 1 to {fed} are fed, without an end: mend it, `taxi replay --resume` goes on"
            raise FeedError(msg) from error
        self._patience.insist(lambda: self._stream.end(self._outcome.fed))
        self._outcome.ended = True

    def _feed(self, phase: Phase) -> None:
        if phase.drained:
            self._await_released(self._outcome.fed, "draining")
        outcome, begun = self._outcome, self._outcome.fed
        start_s, start_ms = time.monotonic(), time.time() * 1_000.0
        most = min(LARGEST_ENTRY, self._limits.ahead)
        while phase.rows is None or outcome.fed - begun < phase.rows:
            row = self._queue.first()
            if row is None:
                return
            if phase.pace is not None:
                self._await_due(phase.pace.offset_s(self._queue.number, row), start_s)
            if self._stopped():
                raise StoppedError
            room = most if phase.rows is None else min(most, phase.rows - (outcome.fed - begun))
            if phase.held:
                # fast rows wait for room for a whole entry, paced ones take what there is
                need = room if phase.pace is None else 1
                self._await_released(outcome.fed + need - self._limits.ahead, phase.name)
                room = min(room, self._released.row + self._limits.ahead - outcome.fed)
            first = outcome.fed == begun
            settled = {"schedule_row": begun + 1, "schedule_ms": round(start_ms)} if first else {}
            self._append(phase.pace, start_s, room, settled)
            if first or time.monotonic() - self._reported_s > _REPORT_S:
                self._report_now(phase.name)

    def _append(self, pace: Pace | None, start_s: float, most: int, settled: dict[str, int]) -> None:
        """Take what is due and see it into the stream."""
        outcome, queue = self._outcome, self._queue
        first = queue.number
        rows, offsets_s = queue.take_due(pace, start_s, most) if pace else (queue.take(most), [])
        faults = [(first + index, row) for index, row in enumerate(rows) if row.fault is not None]
        self._write_rejects(faults)
        counts = Counter(str(row.fault) for _, row in faults)
        grown = {fault_field(fault): count for fault, count in counts.items()}
        if not self._counted:
            grown["paced_rows" if pace else "fast_rows"] = len(rows)
        lines = [row.line for row in rows]
        self._released = self._patience.insist(
            lambda: self._stream.append(outcome.fed, lines, queue.crc, settled=settled, grown=grown)
        )
        outcome.fed += len(rows)
        outcome.faults.update(counts)
        now_s = time.monotonic()
        if pace:
            late_s = [now_s - start_s - offset_s for offset_s in offsets_s]
            outcome.late(late_s)
            self._lag_ms = 1_000.0 * late_s[-1]
        if self._limits.trim and now_s - self._trimmed_s > _TRIM_S:
            self._trimmed_s = now_s
            self._patience.insist(lambda: self._stream.trim(self._released))

    def _write_rejects(self, faults: list[tuple[int, Row]]) -> None:
        """Write malformed rows before they are fed: a crash between may doubt the file, never lose a row."""
        rejects = [(n, str(row.fault), row.line) for n, row in faults if row.fault not in ORDER_FAULTS]
        if rejects and self._rejects is not None:
            self._rejects.write(rejects)

    def _await_due(self, offset_s: float, start_s: float) -> None:
        while (left_s := start_s + offset_s - time.monotonic()) > 0.0 and not self._stopped():
            if time.monotonic() - self._reported_s > _REPORT_S:
                self._report_now("paced", f"next row in {left_s:.0f} s" if left_s > 5.0 else "")
            time.sleep(min(left_s, _NAP_S))

    def _await_released(self, row: int, phase: str) -> None:
        """Wait until a row is released.

        Raises:
            FeedError: Nothing was released for too long.
        """
        seen, seen_s = self._released.row, time.monotonic()
        while self._released.row < row:
            if self._stopped():
                raise StoppedError
            now_s = time.monotonic()
            if self._released.row != seen:
                seen, seen_s = self._released.row, now_s
            elif now_s - seen_s > self._limits.timeout_s:
                raise FeedError(
                    f"no progress for {self._limits.timeout_s:g} s: of {self._outcome.fed} rows in Redis "
                    f"{seen} are released: does a topology serve this run?"
                )
            if now_s - self._reported_s > _REPORT_S:
                self._report_now(phase)
            time.sleep(_POLL_S)
            self._released = self._patience.insist(self._stream.released)

    def _relieve(self) -> None:
        if self._limits.trim:
            self._released = self._stream.released()
            self._stream.trim(self._released)

    def _report_now(self, phase: str, note: str = "") -> None:
        self._reported_s = time.monotonic()
        fed, rows = self._outcome.fed, self._rows
        share = fed / rows if rows else self._source.share()
        self._report(Progress(phase, fed, rows, share, self._released.row, self._lag_ms, note))
