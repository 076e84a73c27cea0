"""Parser and filterByCoordinates: from lines to numbered trips on the grid."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

from streamparse import Stream

from topologies.component import TaxiBolt
from topologies.taxi.grid import Point, Route
from topologies.taxi.keys import LIFE_BITS
from topologies.taxi.progress import FirstTimes, SequenceCheck
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, now_us, unnumbered
from topologies.taxi.trip import Reject, parse_line

PROGRESS = "progress"
"""Stream from filterByCoordinates to metronome."""

_NO_NUMBER = -1  # below the numbers of every life, also shifted


class Parser(TaxiBolt):
    """Reads lines. A line that is no trip goes on as number and reason only, so that no number is missing.

    Coordinates stay text: the JVM between two components must not round them.
    """

    outputs: ClassVar = ["n", "trail", "reason", "pickup", "dropoff", "dropoff_s", "coordinates", "end"]

    def process(self, tup: Any) -> None:
        """Parse one line."""
        came_us = now_us()
        n, trail, line, end = tup.values
        if end:
            self.emit([n, trail, "", "", "", 0, "", end])
            return
        trip = parse_line(line)
        if isinstance(trip, Reject):
            self.emit([n, trail, trip.reason, "", "", 0, "", ""])
            return
        points = pack_points(trip.start, trip.end)
        trail = extended(trail, came_us, now_us())
        self.emit([n, trail, "", trip.pickup, trip.dropoff, trip.dropoff_s, points, ""])


class FilterByCoordinates(TaxiBolt):
    """Passes trips with both ends on the grid, and numbers what passes with dense numbers p.

    p rises over all lives of this component: each begins below the number of the first emit that it sees
    (without replay the row's n), and every passing row needs an emit of its own, so p never exceeds that. A
    later life of the source lifts p too, since a late emit of an earlier life may be the first that is seen.

    Rejects are counted by reason; rows that never came are noticed by their numbers. The marker carries both.
    With replay a row that comes again is counted once, and a late one passes whatever its drop-off.
    """

    outputs: ClassVar = [
        Stream(fields=["p", "n", "trail", "pickup", "dropoff", "coordinates", "end"]),
        Stream(fields=["p", "n", "dropoff_s", "end"], name=PROGRESS),
    ]
    _rows: SequenceCheck
    _seen: FirstTimes
    _rejected: Counter[str]
    _passed: int
    _p: int
    _began: int
    _time_s: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start to count."""
        super().initialize(storm_conf, context)
        self._rows = SequenceCheck()
        self._seen = FirstTimes()
        self._rejected = Counter()
        self._passed = 0
        self._p = _NO_NUMBER
        self._began = 0
        self._time_s = 0

    def process(self, tup: Any) -> None:
        """Pass, reject, or close the run."""
        came_us = now_us()
        n, trail, reason, pickup, dropoff, dropoff_s, coordinates, end = tup.values
        late, new = False, True
        if self.replay:
            emit, trail = unnumbered(trail)
            late = n < self._seen.highest
            new = self._seen.see(n)
        else:
            emit = n
            self._rows.see(n)
        if emit >> LIFE_BITS > self._p >> LIFE_BITS:
            if self._p == _NO_NUMBER and n > 1:
                self._began = n
            self._p = emit - 1
        if end:
            self._pass([n, trail, "", "", "", self._closed(end)], [n, self._time_s, self._closed(end)])
            return
        reason = reason or self._reason(dropoff_s, coordinates, late=late)
        if reason:
            self._rejected[reason] += new
            return
        self._time_s = max(self._time_s, dropoff_s)
        self._passed += new
        trail = extended(trail, came_us, now_us())
        self._pass([n, trail, pickup, dropoff, coordinates, ""], [n, dropoff_s, ""])

    def _closed(self, end: str) -> str:
        totals = replace(Totals.decode(end), passed=self._passed, rejected=dict(self._rejected))
        totals = totals.with_began("filterByCoordinates", self._began)
        return totals.with_lost("filterByCoordinates", self._rows.lost).encode()

    def _reason(self, dropoff_s: int, coordinates: str, *, late: bool) -> str:
        start, end = unpack_points(coordinates)
        if start.is_zero or end.is_zero:
            return "zero_coordinates"
        if not Route.between(start, end).on_grid:
            return "outside_grid"
        return "time_goes_back" if dropoff_s < self._time_s and not late else ""

    def _pass(self, row: list[Any], progress: list[Any]) -> None:
        self._p += 1
        self.emit([self._p, *row])
        self.emit([self._p, *progress], stream=PROGRESS)


def pack_points(start: Point, end: Point) -> str:
    """Return both ends of a trip as one string that `unpack_points` reads without loss."""
    return f"{start.longitude!r} {start.latitude!r} {end.longitude!r} {end.latitude!r}"


def unpack_points(packed: str) -> tuple[Point, Point]:
    """Return start and end of a trip."""
    numbers = [float(text) for text in packed.split(" ")]
    return Point(numbers[0], numbers[1]), Point(numbers[2], numbers[3])
