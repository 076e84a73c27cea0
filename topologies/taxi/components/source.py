"""DataSource: rows from Redis, in epochs."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from formats.semantics import Semantics
from topologies.batches.acking import is_replayed
from topologies.batches.header import Header
from topologies.component import HardenedSpout
from topologies.moments import now_us
from topologies.taxi.batcher import MOST_ROWS, Batcher, RowsGoneError
from topologies.taxi.epochs import Began, EpochReader, Progress, ProgressWatch, Superseded, Trouble
from topologies.taxi.settings import TaxiSettings
from topologies.taxi.tries import Tries

if TYPE_CHECKING:
    from topologies.redis_io.reader import Entry

_BATCHES_PER_CALL = 4
_START_S = 120.0  # a worker may take a minute to start; beyond it is a fault
_LEAST_EPOCH_S = 1.0  # a batch that fails again and again must not begin epochs without a pause


class DataSource(HardenedSpout):
    """Emits the rows of a run in batches: whatever Redis has for it, and never waits for more.

    When rows are under way and nothing is worked off for a while, when a batch fails, and when the
    connection to Redis broke, it begins a new epoch: all rows from which the windows can be rebuilt come
    again, the first of them alone: the others follow when it has come through. So does a source that another
    one has superseded, once that one makes no progress. Epochs that get no further than those before wait
    longer and longer for the next.
    """

    outputs: ClassVar = [*Header.FIELDS, "trail", "entries", "end", "lines"]
    _settings: TaxiSettings
    _acked: bool
    _reader: EpochReader
    _watch: ProgressWatch
    _batcher: Batcher | None
    _superseded: bool
    _epoch: int
    _sent: int
    _highest: int
    _again: int
    _outage: bool
    _failed: bool
    _began_s: float
    _progress: Progress
    _progress_s: float
    _tries: Tries
    _furthest: int
    _under_way: deque[Header]
    _flows: bool

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Start the threads that read ahead and watch."""
        self._settings = TaxiSettings.from_conf(storm_conf)
        self._acked = is_replayed(storm_conf)
        self._batcher = None
        self._superseded = False
        self._epoch = self._sent = self._highest = self._again = 0
        self._outage = self._failed = False
        self._progress = Progress()
        self._began_s = self._progress_s = monotonic()
        self._tries = Tries(self._began_s)
        self._furthest = 0
        self._under_way = deque()
        self._flows = False
        self._reader = EpochReader(self._settings)
        self._watch = ProgressWatch(self._settings, Semantics.from_conf(storm_conf))
        self._reader.start()
        self._watch.start()

    def next_tuple(self) -> None:
        """Emit a few batches, or nothing; never waits."""
        self._take_news()
        self._look_at_progress()
        self._look_at_failure()
        if self._batcher is None:
            return
        seen = self._seen(self._batcher)
        while self._under_way and self._under_way[0].next <= seen + 1:
            self._under_way.popleft()
        for _ in range(_BATCHES_PER_CALL):
            batch = self._batcher.next_batch(seen)
            if batch is None:
                return
            if self._sent <= seen:
                self._progress_s = monotonic()  # nothing was under way until now
                self._tries.under_way(self._progress_s)
            header = batch.header
            self._under_way.append(header)
            self._sent = header.next - 1
            self._again += max(0, min(self._sent, self._highest) - header.first + 1)
            self._highest = max(self._highest, self._sent)
            self._watch.note_sent(self._highest, self._again)
            tup_id = f"{header.epoch} {header.first}" if self._acked else None
            self.emit(
                [*header.values, str(now_us()), batch.entries, int(batch.end), batch.lines], tup_id=tup_id
            )

    def ack(self, tup_id: str) -> None:
        """Do nothing: Redis knows what is done."""

    def fail(self, tup_id: str) -> None:
        """Begin a new epoch, as soon as this one is old enough, unless the batch was of an earlier one."""
        if self._batcher is not None and tup_id.split(" ", maxsplit=1)[0] == str(self._batcher.epoch):
            self._failed = True
            self._look_at_failure()

    def _take_news(self) -> None:
        """Take what the reader has, not much more than one call may emit."""
        while self._batcher is None or self._batcher.waiting < _BATCHES_PER_CALL * MOST_ROWS:
            news = self._reader.poll()
            if news is None:
                return
            if isinstance(news, Began):
                self._begin(news)
            elif isinstance(news, Superseded):
                self._batcher = None
                self._outage = False
                self._superseded = True
                self._under_way.clear()
                self._progress_s = monotonic()
            elif isinstance(news, Trouble):
                self._batcher = None
                if not self._outage:
                    self.report_error(news.message)
                self._outage = True
            else:
                self._take(news)

    def _begin(self, began: Began) -> None:
        self._outage = False
        if began.known < self._epoch:
            self.report_error(
                f"Redis {self._settings.redis} has lost its data: it knows epoch {began.known} of run "
                f"{self._settings.run.id}, which was in epoch {self._epoch}"
            )
            self._furthest = 0
        self._epoch = began.epoch
        self._batcher = Batcher(began, self._settings.run.id, self._settings.ahead)
        if self._superseded:
            self.logger.warning("another source's epoch made no progress, so epoch %d begins", began.epoch)
            self._tries.add(in_full=True)
        self._superseded = False
        self._sent = began.origin - 1
        self._highest = max(self._highest, began.sent)
        self._under_way.clear()
        self._failed = False
        self._progress = Progress(began.epoch, began.origin - 1)
        self._began_s = self._progress_s = monotonic()

    def _take(self, entries: list[Entry]) -> None:
        if self._batcher is None:
            return
        try:
            for sentence in self._batcher.take(entries):
                self.report_error(sentence)
        except RowsGoneError as error:
            self._batcher = None
            self._report_to_all(str(error))

    def _seen(self, batcher: Batcher) -> int:
        """Return the last row that is worked off in this epoch."""
        progress = self._progress
        return progress.seen if progress.epoch == batcher.epoch else batcher.origin - 1

    def _look_at_progress(self) -> None:
        """Begin a new epoch when nothing moves though it should."""
        now_s = monotonic()
        self._note_progress(now_s)
        if now_s - self._progress_s <= self._patience_s(now_s):
            return
        if self._superseded:
            self._progress_s = now_s
            self._reader.begin_again(self._epoch + self._tries.leap_ms(now_s), self._highest, yielding=True)
        elif self._batcher is not None and self._sent > self._seen(self._batcher):
            stuck_s = self._tries.stuck_s(now_s)
            stall = f"no row was worked off for {stuck_s:.1f} s, {self._stuck()}"
            if not self._flows and stuck_s < _START_S:
                self.logger.warning("%s: other components may not have started yet", stall)
            elif self._tries.take_report():
                self.report_error(f"{stall}; they come again in a new epoch")
            if self._tries.count:
                self._watch.note_fault(stall)
            self._begin_again(now_s)

    def _note_progress(self, now_s: float) -> None:
        progress = self._watch.progress
        if progress == self._progress or progress.epoch < self._epoch:
            return
        if progress.epoch == self._progress.epoch == self._epoch and progress.seen > self._progress.seen:
            self._flows = True
        if progress.seen > self._furthest:  # rows that come again to rebuild windows are no step forward
            self._furthest = progress.seen
            self._tries.further(now_s)
            if self._batcher is not None:
                self._watch.note_fault("")
        self._progress = progress
        self._progress_s = now_s

    def _patience_s(self, now_s: float) -> float:
        """Return for how long an epoch, or that of the other source, may stand still, seconds."""
        in_full = self._batcher is None or self._came_through(self._batcher)
        return self._tries.wait_s(self._settings.stall_s, now_s, in_full=in_full)

    def _came_through(self, batcher: Batcher) -> bool:
        """Return whether the epoch's first row is worked off."""
        return self._seen(batcher) >= batcher.origin

    def _look_at_failure(self) -> None:
        if not self._failed or self._batcher is None:
            return
        now_s = monotonic()
        in_full = self._came_through(self._batcher)
        if now_s - self._began_s >= self._tries.wait_s(_LEAST_EPOCH_S, now_s, in_full=in_full):
            # the component that failed has reported the first time
            if self._tries.count and self._tries.take_report():
                self._report_to_all(f"a batch failed, {self._stuck()}")
            self._begin_again(now_s)

    def _report_to_all(self, message: str) -> None:
        """Report why nothing comes, in Storm and to the collector of results, until something does."""
        self.report_error(message)
        self._watch.note_fault(message)

    def _stuck(self) -> str:
        """Return which rows are the first that are not worked off, and how often they were tried."""
        if not self._under_way:
            return f"with rows up to {self._sent} under way"
        batch = self._under_way[0]
        rows = (
            f"row {batch.first} is"
            if batch.next == batch.first + 1
            else f"rows {batch.first} to {batch.next - 1} are"
        )
        times = f" after {self._tries.count + 1} epochs in a row" if self._tries.count else ""
        return f"with rows up to {self._sent} under way: {rows} the first not worked off{times}"

    def _begin_again(self, now_s: float) -> None:
        in_full = self._batcher is not None and self._came_through(self._batcher)
        self._batcher = None
        self._progress_s = now_s
        self._reader.begin_again(self._epoch + self._tries.leap_ms(now_s), self._highest)
        self._tries.add(in_full=in_full)
