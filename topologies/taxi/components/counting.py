"""countByWindow: trips per route in the last 30 minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from topologies.component import TaxiBolt
from topologies.taxi.packing import marked, pack
from topologies.taxi.progress import Join, LostNumbers, StaleSequenceError
from topologies.taxi.retelling import Retelling
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, now_us
from topologies.taxi.window import SlidingWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE = 0
_WARN_WAITING = 5_000


class _Row(NamedTuple):
    """What computeRouteID knows of a row."""

    tuple_id: str
    came_us: int
    values: Sequence[Any]


class _Clock(NamedTuple):
    """What metronome knows of it."""

    tuple_id: str
    came_us: int
    now_s: int


class CountByWindow(TaxiBolt):
    """Joins rows with the progress of time and emits, for every row, the counts that it changed.

    Rows are taken strictly in the order of p, whichever of the two ways is ahead. With replay the halves of a
    row are acknowledged when the row goes on, and fail when they are given up.
    """

    outputs: ClassVar = ["p", "n", "trail", "pickup", "dropoff", "share", "changes", "end"]
    config: ClassVar = {"topology.tick.tuple.freq.secs": 2}
    _join: Join[_Row, _Clock]
    _window: SlidingWindow
    _retelling: Retelling
    _now_s: int
    _first: tuple[int, int] | None
    _repeated: LostNumbers
    _warn_waiting: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start with an empty window."""
        super().initialize(storm_conf, context)
        self.auto_ack = self.auto_fail = not self.replay
        self._join = Join()
        self._window = SlidingWindow()
        self._retelling = Retelling(self._window)
        self._now_s = 0
        self._first = None
        self._repeated = LostNumbers()
        self._warn_waiting = _WARN_WAITING

    def process(self, tup: Any) -> None:
        """Take a row or the progress of time."""
        try:
            held = self._take(tup)
        except Exception:
            if self.replay:
                self.fail(tup)
            raise
        if self.replay and not held:
            self.ack(tup)
        self._release()

    def process_tick(self, tup: Any) -> None:
        """Give up numbers that were lost on their way."""
        if self.replay:
            self.ack(tup)
        lost = self._join.skip_overtaken()
        if lost.count:
            self.report_error(f"rows p={lost.ranges} never came by both ways; counts miss them from now on")
            self._release()

    def _take(self, tup: Any) -> bool:
        """Return whether the tuple waits in the join (a stale marker does not)."""
        came_us = now_us()
        values = tuple(tup.values)
        p = values[0]
        try:
            if tup.component == "metronome":
                self._join.offer_right(p, _Clock(tup.id, came_us, values[2]))
            else:
                self._join.offer_left(p, _Row(tup.id, came_us, values))
        except StaleSequenceError:
            if tup.component == "metronome":
                raise
            self._repeated = self._repeated.including(p, p)
            if not values[-1]:
                raise
            # a late tuple of an old component has taken the marker's number, but the run must end, and loudly
            self._emit_end(values, [tup.id])
            return False
        return True

    def _release(self) -> None:
        dropped = self._join.take_dropped()
        if self.replay:
            for half in dropped:
                self.fail(half.tuple_id)
        for p, row, clock in self._join.ready():
            halves = [row.tuple_id, clock.tuple_id]
            try:
                self._count(p, row, clock, halves)
            except Exception:
                if self.replay:
                    self.fail(row.tuple_id)
                    self.fail(clock.tuple_id)
                raise
            if self.replay:
                self.ack(row.tuple_id)
                self.ack(clock.tuple_id)
        if self._join.waiting > self._warn_waiting:
            self.report_error(
                f"{self._join.waiting} rows wait for their other half: one way is slow or broken"
            )
            self._warn_waiting *= 2

    def _count(self, p: int, row: _Row, clock: _Clock, halves: list[str]) -> None:
        _, n, trail, pickup, dropoff, route, end = row.values
        if self._first is None:
            self._first = (p, n)
        if end:
            self._emit_end(row.values, halves)
            return
        # a new metronome may see an old row first, which comes again
        self._now_s = max(self._now_s, clock.now_s)
        self._window.advance(self._now_s)
        if not self.replay:
            self._window.add(route, p)
            changed = self._window.take_changes()
        else:
            changed = self._retelling.count(n, route, p)
        changes = pack(changed)
        if self._first[0] > 1:
            changes = marked(self._first[0], changes)
        trail = extended(trail, row.came_us, clock.came_us, now_us())
        self._send([p, n, trail, pickup, dropoff, _SHARE, changes, ""], halves)

    def _emit_end(self, row: Sequence[Any], halves: list[str]) -> None:
        p, n, trail, *_, end = row
        totals = Totals.decode(end)
        if self._first is not None and self._first[0] > 1:
            totals = totals.with_began("countByWindow", self._first[1])
        if not self.replay:
            totals = totals.with_lost("countByWindow", self._join.lost)
            totals = totals.with_lost("countByWindow (repeated)", self._repeated)
        self._send([p, n, trail, "", "", _SHARE, "", totals.encode()], halves)

    def _send(self, values: list[Any], halves: list[str]) -> None:
        self.emit(values, anchors=halves if self.replay else None)
