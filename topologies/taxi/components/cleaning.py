"""Parser and filterByCoordinates: from lines to numbered trips on the grid."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

from streamparse import Stream

from topologies.component import TaxiBolt
from topologies.taxi.grid import Point, Route
from topologies.taxi.progress import SequenceCheck
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, now_us
from topologies.taxi.trip import Reject, parse_line

PROGRESS = "progress"
"""Stream from filterByCoordinates to metronome."""


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
    """Passes trips with both ends on the grid, and numbers what passes p = 1, 2, 3, ...

    Rejects are counted by reason; rows that never came are noticed by their numbers. The marker carries both.
    """

    outputs: ClassVar = [
        Stream(fields=["p", "n", "trail", "pickup", "dropoff", "coordinates", "end"]),
        Stream(fields=["p", "n", "dropoff_s", "end"], name=PROGRESS),
    ]
    _rows: SequenceCheck
    _rejected: Counter[str]
    _passed: int
    _time_s: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Start to count."""
        self._rows = SequenceCheck()
        self._rejected = Counter()
        self._passed = 0
        self._time_s = 0

    def process(self, tup: Any) -> None:
        """Pass, reject, or close the run."""
        came_us = now_us()
        n, trail, reason, pickup, dropoff, dropoff_s, coordinates, end = tup.values
        self._rows.see(n)
        if end:
            totals = replace(Totals.decode(end), passed=self._passed, rejected=dict(self._rejected))
            end = totals.with_lost("filterByCoordinates", self._rows.lost).encode()
            self._pass([n, trail, "", "", "", end], [n, self._time_s, end])
            return
        reason = reason or self._reason(dropoff_s, coordinates)
        if reason:
            self._rejected[reason] += 1
            return
        self._time_s = dropoff_s
        self._passed += 1
        trail = extended(trail, came_us, now_us())
        self._pass([n, trail, pickup, dropoff, coordinates, ""], [n, dropoff_s, ""])

    def _reason(self, dropoff_s: int, coordinates: str) -> str:
        start, end = unpack_points(coordinates)
        if start.is_zero or end.is_zero:
            return "zero_coordinates"
        if not Route.between(start, end).on_grid:
            return "outside_grid"
        return "time_goes_back" if dropoff_s < self._time_s else ""

    def _pass(self, row: list[Any], progress: list[Any]) -> None:
        p = self._passed if not row[-1] else self._passed + 1
        self.emit([p, *row])
        self.emit([p, *progress], stream=PROGRESS)


def pack_points(start: Point, end: Point) -> str:
    """Return both ends of a trip as one string that `unpack_points` reads without loss."""
    return f"{start.longitude!r} {start.latitude!r} {end.longitude!r} {end.latitude!r}"


def unpack_points(packed: str) -> tuple[Point, Point]:
    """Return start and end of a trip."""
    numbers = [float(text) for text in packed.split(" ")]
    return Point(numbers[0], numbers[1]), Point(numbers[2], numbers[3])
