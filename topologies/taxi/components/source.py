"""dataSource: rows from Redis."""

from __future__ import annotations

from time import monotonic
from typing import Any, ClassVar

from topologies.component import TaxiSpout
from topologies.redis_io.reader import Entry, StreamReader, Trouble
from topologies.redis_io.unacknowledged import UnacknowledgedEntries
from topologies.taxi.keys import LIFE_BITS, REPLAYED, TaxiSettings, replays
from topologies.taxi.progress import FirstTimes
from topologies.taxi.totals import Totals
from topologies.taxi.trail import now_us, numbered
from topologies.taxi.under_way import Row, RowsUnderWay

_GROUP = "dataSource"
_EMITS_PER_CALL = 100
_CLAIM_EVERY_S = 5.0
_IDLE_MS = 15_000


class DataSource(TaxiSpout):
    """Emits every row of the run's stream with its number and its trail, which begins with the emit.

    With replay Redis remembers each row until Storm has acknowledged it, also when this component is
    restarted elsewhere. Rows that failed or that an earlier life left are emitted again; the end goes last.
    """

    outputs: ClassVar = ["n", "trail", "line", "end"]
    _reader: StreamReader
    _unacknowledged: UnacknowledgedEntries | None
    _rows: RowsUnderWay
    _seen: FirstTimes
    _begun: bool
    _claiming: bool
    _ending: bool
    _claimed_s: float
    _emits: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Start the threads that read ahead and, with replay, acknowledge."""
        settings = TaxiSettings.from_conf(storm_conf)
        redis, run = settings.redis, settings.run
        replay = replays(storm_conf)
        self._reader = StreamReader(redis, run.rows, _GROUP, acknowledged=replay)
        self._unacknowledged = None
        if not replay:
            self._reader.start()
            return
        self._rows = RowsUnderWay()
        self._seen = FirstTimes()
        self._begun = self._ending = False
        self._emits = 0
        self._unacknowledged = UnacknowledgedEntries(redis, run.rows, _GROUP, run.source)
        self._unacknowledged.start()
        self._claim(self._unacknowledged, 0)

    def next_tuple(self) -> None:
        """Emit one reply of Redis (up to 100 rows), or nothing; never waits."""
        if self._unacknowledged is not None:
            self._next_guarded(self._unacknowledged)
            return
        for entry in self._polled(self._reader):
            row = self._row(entry)
            if row is not None:
                self.emit([row.n, str(now_us()), row.line, _end(row)])

    def ack(self, tup_id: str) -> None:
        """Let Redis forget a row that is done."""
        if self._unacknowledged is not None:
            row = self._rows.acked(int(tup_id))
            if row is not None:
                self._unacknowledged.acknowledge(row.entry_id)

    def fail(self, tup_id: str) -> None:
        """Let a row be emitted again."""
        if self._unacknowledged is not None:
            self._rows.failed(int(tup_id))

    def _next_guarded(self, unacknowledged: UnacknowledgedEntries) -> None:
        self._take_claimed(unacknowledged)
        if not self._begun:
            return
        if self._rows.waiting < _EMITS_PER_CALL:
            self._take(self._polled(self._reader), unacknowledged, repeated=False)
        now_s = monotonic()
        for _ in range(_EMITS_PER_CALL):
            row = self._rows.next_due(now_s)
            if row is None:
                break
            self._emit_guarded(row, unacknowledged)
        if self._claiming:
            return
        if self._rows.end_is_next:
            # an old source may have taken rows along: the end goes when Redis knows of none
            self._ending = True
            self._claim(unacknowledged, 0)
        elif now_s - self._claimed_s > _CLAIM_EVERY_S:
            self._claim(unacknowledged, _IDLE_MS)

    def _claim(self, unacknowledged: UnacknowledgedEntries, idle_ms: int) -> None:
        self._claiming = True
        self._claimed_s = monotonic()
        unacknowledged.claim(idle_ms)

    def _take_claimed(self, unacknowledged: UnacknowledgedEntries) -> None:
        found = unacknowledged.poll()
        if isinstance(found, Trouble):
            self.report_error(found.message)
        elif found is not None:
            self._claiming = False
            self._take(found, unacknowledged, repeated=True)
            if self._ending:
                self._ending = False
                if self._rows.end_is_next:
                    self._rows.release_end()
            if not self._begun:
                self._begun = True
                self._reader.start()

    def _take(self, entries: list[Entry], unacknowledged: UnacknowledgedEntries, *, repeated: bool) -> None:
        for entry in entries:
            row = self._row(entry)
            if row is None:
                unacknowledged.acknowledge(entry.id)
                continue
            row.repeated = repeated
            # what the reader held for long may have been claimed and done meanwhile
            if self._seen.see(row.n) or repeated:
                self._rows.take(row)

    def _emit_guarded(self, row: Row, unacknowledged: UnacknowledgedEntries) -> None:
        self._emits += 1
        number = ((unacknowledged.life or 0) << LIFE_BITS) + self._emits
        if row.repeated and not row.end:
            unacknowledged.count(REPLAYED)
        self.emit([row.n, numbered(str(now_us()), number), row.line, _end(row)], tup_id=str(row.n))

    def _polled(self, reader: StreamReader) -> list[Entry]:
        ready = reader.poll()
        if isinstance(ready, Trouble):
            self.report_error(ready.message)
            return []
        return ready or []

    def _row(self, entry: Entry) -> Row | None:
        number = entry.fields.get("n", "")
        if not (number.isascii() and number.isdigit()) or not entry.fields.keys() & {"line", "end"}:
            self.report_error(f"rows entry {entry.id} has no number, or neither line nor end: {entry.fields}")
            return None
        return Row(int(number), entry.id, entry.fields.get("line", ""), end="end" in entry.fields)


def _end(row: Row) -> str:
    return Totals(rows=row.n - 1).encode() if row.end else ""
