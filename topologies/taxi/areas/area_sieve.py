"""Which rows may count for query 2, but for the order of their times."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.batches.times import REJECT
from topologies.taxi.areas.area_grid import AreaGrid
from topologies.taxi.areas.money import paid
from topologies.taxi.trip import COORDINATES, DROPOFF, FARE, MEDALLION, PICKUP, TIP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.semantics import Semantics

_AMOUNTS = 10_000


class AreaSieve:
    """The filter of query 2: amounts that are money, and both ends on the 600 x 600 areas.

    A row that passes is `n,pickup,coordinates,cents,medallion`.

    Args:
        semantics: How the query is read.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._area_at = AreaGrid(semantics.area_grid).area_at
        self._paid = lru_cache(_AMOUNTS)(paid)  # few amounts are common to most rows

    def sift(self, first: int, rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
        """Take the rows of a batch, as `topologies.taxi.sieve.Sieve.sift`."""
        passing: list[str] = []
        times: list[str] = []
        area_at, paid_of = self._area_at, self._paid
        for n, columns in enumerate(rows, start=first):
            if len(columns) == 1:
                times.append(columns[0])
                continue
            cents = paid_of(columns[FARE], columns[TIP])
            if cents is None:
                times.append(f"{REJECT}fares")
                continue
            places = columns[COORDINATES]
            longitude, latitude, to_longitude, to_latitude = map(float, places)
            if not (longitude and latitude and to_longitude and to_latitude):
                times.append(f"{REJECT}zero_coordinates")
            elif area_at(longitude, latitude) and area_at(to_longitude, to_latitude):
                pickup = columns[PICKUP]
                times.append(f"{columns[DROPOFF]},{pickup}")
                passing.append(f"{n},{pickup},{','.join(places)},{cents},{columns[MEDALLION]}")
            else:
                times.append(f"{REJECT}outside_grid")
        return passing, times
