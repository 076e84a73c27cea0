"""countByWindow: trips per route in the last 30 minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from topologies.component import TaxiBolt
from topologies.taxi.packing import pack
from topologies.taxi.progress import Join, LostNumbers, StaleSequenceError
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, now_us
from topologies.taxi.window import SlidingWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE = 0
_WARN_WAITING = 5_000


class CountByWindow(TaxiBolt):
    """Joins rows with the progress of time and emits, for every row, the counts that it changed.

    Rows are taken strictly in the order of p, whichever of the two ways is ahead.
    """

    outputs: ClassVar = ["p", "n", "trail", "pickup", "dropoff", "share", "changes", "end"]
    config: ClassVar = {"topology.tick.tuple.freq.secs": 10}
    _join: Join[tuple[Any, ...], tuple[int, int]]
    _window: SlidingWindow
    _repeated: LostNumbers
    _warn_waiting: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Start with an empty window."""
        self._join = Join()
        self._window = SlidingWindow()
        self._repeated = LostNumbers()
        self._warn_waiting = _WARN_WAITING

    def process(self, tup: Any) -> None:
        """Take a row or the progress of time."""
        came_us = now_us()
        values = tuple(tup.values)
        p = values[0]
        try:
            if tup.component == "metronome":
                self._join.offer_right(p, (values[2], came_us))
            else:
                self._join.offer_left(p, (came_us, *values))
        except StaleSequenceError:
            if tup.component == "metronome":
                raise
            self._repeated = self._repeated.including(p, p)
            if not values[-1]:
                raise
            # after a restart upstream the marker's own number is stale too, but the run must end, and loudly
            self._emit_end(values)
            return
        self._release()

    def process_tick(self, tup: Any) -> None:  # noqa: ARG002 - streamparse's
        """Give up numbers that were lost on their way."""
        lost = self._join.skip_overtaken()
        if lost.count:
            self.report_error(f"rows p={lost.ranges} never came by both ways; counts miss them from now on")
            self._release()

    def _release(self) -> None:
        for p, (came_us, *row), (now_s, clock_us) in self._join.ready():
            if row[-1]:
                self._emit_end(row)
                continue
            _, n, trail, pickup, dropoff, route, _ = row
            self._window.advance(now_s)
            self._window.add(route, p)
            changes = pack(self._window.take_changes())
            trail = extended(trail, came_us, clock_us, now_us())
            self.emit([p, n, trail, pickup, dropoff, _SHARE, changes, ""])
        if self._join.waiting > self._warn_waiting:
            self.report_error(
                f"{self._join.waiting} rows wait for their other half: one way is slow or broken"
            )
            self._warn_waiting *= 2

    def _emit_end(self, row: Sequence[Any]) -> None:
        p, n, trail, *_, end = row
        totals = Totals.decode(end).with_lost("countByWindow", self._join.lost)
        totals = totals.with_lost("countByWindow (repeated)", self._repeated)
        self.emit([p, n, trail, "", "", _SHARE, "", totals.encode()])
