"""ComputeRouteID and metronome: the two ways from the filter to countByWindow."""

from __future__ import annotations

from typing import Any, ClassVar

from topologies.component import TaxiBolt
from topologies.taxi.components.cleaning import unpack_points
from topologies.taxi.grid import Route
from topologies.taxi.trail import extended, now_us


class ComputeRouteID(TaxiBolt):
    """Names the route of a trip by its cells."""

    outputs: ClassVar = ["p", "n", "trail", "pickup", "dropoff", "route", "end"]

    def process(self, tup: Any) -> None:
        """Name one route."""
        came_us = now_us()
        p, n, trail, pickup, dropoff, coordinates, end = tup.values
        route = "" if end else str(Route.between(*unpack_points(coordinates)))
        self.emit([p, n, extended(trail, came_us, now_us()), pickup, dropoff, route, end])


class Metronome(TaxiBolt):
    """Defines the passing of time: tells all counters the event time of each row, never backwards."""

    outputs: ClassVar = ["p", "n", "now_s", "end"]
    _now_s: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start the clock."""
        super().initialize(storm_conf, context)
        self._now_s = 0

    def process(self, tup: Any) -> None:
        """Move the clock to one row's drop-off."""
        p, n, dropoff_s, end = tup.values
        self._now_s = max(self._now_s, dropoff_s)
        self.emit([p, n, self._now_s, end])
