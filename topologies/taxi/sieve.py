"""Which rows may count for a query, but for the order of their times: what filterByCoordinates does."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.batches.clock import REJECT
from topologies.taxi.areas.money import paid
from topologies.taxi.grid import AreaGrid, is_on_grid
from topologies.taxi.trip import COORDINATES, DROPOFF, FARE, MEDALLION, PICKUP, TIP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from formats.semantics import Semantics

_AMOUNTS = 10_000


class Sieve:
    """The filter of one query: both ends on its grid, and where amounts matter, they are money.

    Args:
        on_grid: Whether a place (longitude and latitude, degrees) is on the query's grid.
        paid_of: Returns fare and tip together as cents, None when they are no money; None: no matter.
    """

    def __init__(
        self,
        on_grid: Callable[[float, float], object],
        paid_of: Callable[[str, str], int | None] | None = None,
    ) -> None:
        self._on_grid = on_grid
        self._paid_of = paid_of

    def sift(self, first: int, rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
        """Take the rows of a batch.

        Args:
            first: Number of the first row.
            rows: The columns of each read line (`topologies.taxi.trip`), or `!REASON` alone.

        Returns:
            For each row that passes `n,pickup,coordinates`, where amounts matter with `,cents,medallion`; and
            for each row of the batch `DROPOFF,PICKUP`, or `!REASON`.
        """
        passing: list[str] = []
        times: list[str] = []
        on_grid, paid_of = self._on_grid, self._paid_of
        amount = ""
        for n, columns in enumerate(rows, start=first):
            if len(columns) == 1:
                times.append(columns[0])
                continue
            if paid_of is not None:
                cents = paid_of(columns[FARE], columns[TIP])
                if cents is None:
                    times.append(f"{REJECT}fares")
                    continue
                amount = f",{cents},{columns[MEDALLION]}"
            places = columns[COORDINATES]
            longitude, latitude, to_longitude, to_latitude = map(float, places)
            if not (longitude and latitude and to_longitude and to_latitude):
                times.append(f"{REJECT}zero_coordinates")
            elif on_grid(longitude, latitude) and on_grid(to_longitude, to_latitude):
                pickup = columns[PICKUP]
                times.append(f"{columns[DROPOFF]},{pickup}")
                passing.append(f"{n},{pickup},{','.join(places)}{amount}")
            else:
                times.append(f"{REJECT}outside_grid")
        return passing, times


def route_sieve() -> Sieve:
    """Return the filter of query 1."""
    return Sieve(is_on_grid)


def area_sieve(semantics: Semantics) -> Sieve:
    """Return the filter of query 2."""
    # few amounts are common to most rows
    return Sieve(AreaGrid(semantics.area_grid).area_at, lru_cache(_AMOUNTS)(paid))
