"""ComputeAreaID and areaMetronome: the two ways from the filter to the shares of taxis and areas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from streamparse import Stream

from topologies.batches.bolt import BatchBolt
from topologies.batches.header import Header
from topologies.batches.shares import share_of
from topologies.moments import now_us
from topologies.taxi.areas.columns import empty_columns, pack_columns
from topologies.taxi.components.configured import Configured
from topologies.taxi.components.routes import Metronome
from topologies.taxi.grid import AreaGrid
from topologies.taxi.trail import extend

if TYPE_CHECKING:
    from collections.abc import Sequence

TAXIS = "taxis"
"""Stream from computeAreaID to emptyTaxis: row, pick-up, area of the drop-off, and medallion."""

TRIPS = "trips"
"""Stream from computeAreaID to profitability: row, pick-up, area of the start, and fare + tip (cents)."""


class ComputeAreaID(Configured, BatchBolt):
    """Names the areas of trips, and sends each share of taxis and of areas its own rows, maybe none."""

    outputs: ClassVar = [
        Stream(fields=[*Header.FIELDS, "share", "trail", "rows"], name=TAXIS),
        Stream(fields=[*Header.FIELDS, "share", "rows"], name=TRIPS),
    ]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read where the areas lie."""
        super().initialize(storm_conf, context)
        self._area_at = AreaGrid(self.semantics.area_grid).area_at

    def work(self, header: Header, values: Sequence[Any], came_us: int) -> None:
        """Divide the rows of one batch."""
        trail, text = values
        shares, area_at = self.shares, self._area_at
        taxis, trips = empty_columns(shares), empty_columns(shares)
        for row in text.split("\n") if text else ():
            n, pickup, longitude, latitude, to_longitude, to_latitude, cents, medallion = row.split(",")
            start = area_at(float(longitude), float(latitude))
            end = area_at(float(to_longitude), float(to_latitude))
            numbers, pickups, areas, values = taxis[share_of(medallion, shares)]
            numbers.append(n)
            pickups.append(pickup)
            areas.append(str(end))
            values.append(medallion)
            numbers, pickups, areas, values = trips[start % shares]
            numbers.append(n)
            pickups.append(pickup)
            areas.append(str(start))
            values.append(cents)
        trail = extend(trail, came_us, now_us())
        for share in range(shares):
            self.send(header, [share, trail, pack_columns(taxis[share])], TAXIS)
            self.send(header, [share, pack_columns(trips[share])], TRIPS)


class AreaMetronome(Metronome):
    """Defines the passing of query 2's time."""

    query: ClassVar = "2"
