"""Which rows may count for a query, but for the order of their times: what filterByCoordinates does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from topologies.batches.times import REJECT
from topologies.taxi.grid import is_on_grid
from topologies.taxi.trip import COORDINATES, DROPOFF, PICKUP

if TYPE_CHECKING:
    from collections.abc import Sequence


class Sieve(Protocol):
    """The filter of one query."""

    def sift(self, first: int, rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
        """Take the rows of a batch.

        Args:
            first: Number of the first row.
            rows: The columns of each read line (`topologies.taxi.trip`), or `!REASON` alone.

        Returns:
            One text for each row that passes, as the query's next component wants it; and for each row of the
            batch `DROPOFF,PICKUP`, or `!REASON`.
        """
        ...


class RouteSieve:
    """The filter of query 1: both ends on the grid. A row that passes is `n,pickup,coordinates`."""

    def sift(self, first: int, rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
        """Take the rows of a batch, as `Sieve.sift`."""
        passing: list[str] = []
        times: list[str] = []
        for n, columns in enumerate(rows, start=first):
            if len(columns) == 1:
                times.append(columns[0])
                continue
            places = columns[COORDINATES]
            longitude, latitude, to_longitude, to_latitude = map(float, places)
            if not (longitude and latitude and to_longitude and to_latitude):
                times.append(f"{REJECT}zero_coordinates")
            elif is_on_grid(longitude, latitude) and is_on_grid(to_longitude, to_latitude):
                times.append(f"{columns[DROPOFF]},{columns[PICKUP]}")
                passing.append(f"{n},{columns[PICKUP]},{','.join(places)}")
            else:
                times.append(f"{REJECT}outside_grid")
        return passing, times
