"""PartialRank and globalRank: from counts to the ten most frequent routes, and results to Redis."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from topologies.component import TaxiBolt
from topologies.redis_io.writer import StreamWriter, WriteLostError
from topologies.taxi.challenge import output_row, state_json
from topologies.taxi.keys import TaxiSettings
from topologies.taxi.packing import pack, unmarked, unpack
from topologies.taxi.progress import LostNumbers, SequenceCheck
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, now_us, parted


class PartialRank(TaxiBolt):
    """Ranks one share of the routes and emits its best eleven after every row."""

    outputs: ClassVar = ["p", "n", "trail", "pickup", "dropoff", "share", "top", "end"]
    _rows: SequenceCheck
    _ranking: PartialRanking
    _window_began: int
    _began: int | None

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start with no ranks."""
        super().initialize(storm_conf, context)
        self._rows = SequenceCheck()
        self._ranking = PartialRanking()
        self._window_began = 0
        self._began = None

    def process(self, tup: Any) -> None:
        """Apply one row's changes."""
        came_us = now_us()
        p, n, trail, pickup, dropoff, share, changes, end = tup.values
        if end:
            self._rows.see_last(p)
        else:
            self._rows.see(p)
        if self._began is None:
            self._began = n if p > 1 else 0
        if end:
            totals = Totals.decode(end).with_began("partialRank", self._began)
            if not self.replay:
                totals = totals.with_lost("partialRank", self._rows.lost)
            self.emit([p, n, trail, "", "", share, "", totals.encode()])
            return
        window_began, changes = unmarked(changes)
        if window_began != self._window_began:
            # a new window never tells that routes of the old one are out
            self._window_began = window_began
            self._ranking = PartialRanking()
        self._ranking.update(unpack(changes))
        top = pack(self._ranking.top())
        self.emit([p, n, extended(trail, came_us, now_us()), pickup, dropoff, share, top, ""])


class GlobalRank(TaxiBolt):
    """Merges the shares, notices changes of the answer and writes one result per row, then the totals.

    With replay a row is acknowledged when Redis has answered, and fails when its result may be lost.
    """

    outputs: ClassVar[list[str]] = []
    config: ClassVar = {"topology.tick.tuple.freq.secs": 5}
    _rows: SequenceCheck
    _ranking: GlobalRanking
    _writer: StreamWriter
    _results: str
    _held: dict[int, str]
    _unwritten: LostNumbers
    _outage: bool
    _totals: Totals | None
    _began: int | None
    _final_p: int
    _final_due: bool

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start with no ranks; Redis is connected to at the first result."""
        super().initialize(storm_conf, context)
        self.auto_ack = not self.replay
        settings = TaxiSettings.from_conf(storm_conf)
        self._rows = SequenceCheck()
        self._ranking = GlobalRanking()
        self._writer = StreamWriter(settings.redis, on_answer=self._written if self.replay else None)
        self._results = settings.run.results
        self._held = {}
        self._unwritten = LostNumbers()
        self._outage = False
        self._totals = None
        self._began = None
        self._final_p = 0
        self._final_due = False

    def process(self, tup: Any) -> None:
        """Merge one row's top and write its result."""
        came_us = now_us()
        p, n, trail, pickup, dropoff, share, top, end = tup.values
        if end:
            self._rows.see_last(p)
        else:
            self._rows.see(p)
        if self._began is None:
            self._began = n if p > 1 else 0
        if end:
            self._totals = Totals.decode(end).with_began("globalRank", self._began)
            if not self.replay:
                self._totals = self._totals.with_lost("globalRank", self._rows.lost)
            self._final_p = p
            self._hold(p, tup)
            self._write_final()
            return
        changed = self._ranking.update({share: unpack(top)})
        emit_us, stamps = parted(extended(trail, came_us))
        fields: dict[str, str | int] = {"n": n, "emit_us": emit_us, "trail": stamps}
        if changed:
            fields["top"] = output_row(pickup, dropoff, self._ranking.answer)
        fields["state"] = state_json(self._ranking.top())
        fields["done_us"] = now_us()
        self._hold(p, tup)
        self._write(p, fields)

    def process_tick(self, tup: Any) -> None:
        """Notice a Redis that went away in a quiet time; write the totals again if they were lost."""
        try:
            self._writer.check()
        except WriteLostError as error:
            self._note_lost(error)
        if self._final_due:
            self._write_final()
        if self.replay:
            self.ack(tup)

    def _hold(self, p: int, tup: Any) -> None:
        if self.replay:
            self._held[p] = tup.id

    def _written(self, p: int) -> None:
        """Acknowledge a row; runs in the writer's thread, while the main thread waits for Storm."""
        self.ack(self._held.pop(p))
        self.serializer.flush()

    def _write(self, p: int, fields: dict[str, str | int]) -> None:
        try:
            self._writer.add(self._results, fields, tag=p)
        except WriteLostError as error:
            self._note_lost(error)
        else:
            self._outage = False

    def _write_final(self) -> None:
        if self._totals is None:
            return
        self._final_due = False
        totals = self._totals.with_lost("results", self._unwritten)
        fields: dict[str, str | int] = {
            "end": 1,
            "rows": totals.rows,
            "passed": totals.passed,
            "rejected": totals.rejected_rows,
            "reasons": json.dumps(dict(totals.rejected), sort_keys=True),
            "lost": json.dumps(totals.lost_document(), sort_keys=True),
            "began": json.dumps(dict(totals.began), sort_keys=True),
        }
        self._write(self._final_p, fields)

    def _note_lost(self, error: WriteLostError) -> None:
        if not self._outage:  # once per outage, not once per row
            self.report_error(f"{error}; results of rows p={error.tags[0]} and on may be lost")
        self._outage = True
        for p in error.tags:
            if self.replay:
                self.fail(self._held.pop(p))
            elif p == self._final_p:
                self._final_due = True
            else:
                self._unwritten = self._unwritten.including(p, p)
