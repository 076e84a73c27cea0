"""dataSource: rows from Redis."""

from __future__ import annotations

from typing import Any, ClassVar

from topologies.component import TaxiSpout
from topologies.redis_io.reader import Entry, StreamReader, Trouble
from topologies.taxi.keys import TaxiSettings
from topologies.taxi.totals import Totals
from topologies.taxi.trail import now_us


class DataSource(TaxiSpout):
    """Emits every row of the run's stream with its number and its trail, which begins with the emit."""

    outputs: ClassVar = ["n", "trail", "line", "end"]
    _reader: StreamReader

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Start the thread that reads ahead."""
        settings = TaxiSettings.from_conf(storm_conf)
        self._reader = StreamReader(settings.redis, settings.run.rows, "dataSource")
        self._reader.start()

    def next_tuple(self) -> None:
        """Emit one reply of Redis (up to 100 rows), or nothing; never waits."""
        ready = self._reader.poll()
        if ready is None:
            return
        if isinstance(ready, Trouble):
            self.report_error(ready.message)
            return
        for entry in ready:
            self._emit_row(entry)

    def _emit_row(self, entry: Entry) -> None:
        number = entry.fields.get("n", "")
        if not (number.isascii() and number.isdigit()) or not entry.fields.keys() & {"line", "end"}:
            self.report_error(f"rows entry {entry.id} has no number, or neither line nor end: {entry.fields}")
            return
        end = Totals(rows=int(number) - 1).encode() if "end" in entry.fields else ""
        self.emit([int(number), str(now_us()), entry.fields.get("line", ""), end])
