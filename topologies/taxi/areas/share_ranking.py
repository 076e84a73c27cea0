"""The best areas of one share, in order of rank, and what it takes to find others when they fall."""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from topologies.taxi.areas.profitability import RankedArea, half_cents_of, rank_exactly, rank_in_cents
from topologies.taxi.tops import REPORTED, TopMerge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from formats.semantics import Semantics
    from topologies.taxi.areas.area import Area

KEPT = 4 * REPORTED
"""Areas that are left when there are too many in order."""

_NO_FLOOR = (0, 0)  # nothing is below it


class ShareRanking:
    """Ranks the areas of a share that are at least as profitable as a floor.

    Most changes of an area happen far below the best, and one comparison shows. All areas from the floor up
    are in order; when they become too many the floor is raised, and when fewer than `REPORTED` are left all
    areas are looked at anew. So the best are always the best of all, and no rank is ever stale.

    Args:
        semantics: How the query is read.
        areas: All areas of the share by number; the caller keeps them.
    """

    def __init__(self, semantics: Semantics, areas: Mapping[int, Area]) -> None:
        self._lists_idle = semantics.idle_areas == "zero"
        self._cuts = semantics.median == "cents"
        self._areas = areas
        self._order: list[RankedArea] = []  # worst first
        self._floor = _NO_FLOOR  # half cents and empty taxis of an area as profitable as the floor
        self._most = 2 * KEPT

    def update(self, changed: Iterable[Area]) -> bool:
        """Look anew at areas that changed.

        Returns:
            Whether one of the best `REPORTED` was or is now among them.
        """
        touched = False
        for area in changed:
            was, area.rank = area.rank, self._rank(area)
            if was != area.rank:
                touched = self._replace(was, area.rank) or touched
        if len(self._order) > self._most:
            self._raise_floor()
        elif len(self._order) < REPORTED and self._floor != _NO_FLOOR:
            self._look_at_all()
        return touched

    def top(self) -> list[RankedArea]:
        """Return the best `REPORTED` areas, best first (fewer when the share has fewer)."""
        return self._order[: -REPORTED - 1 : -1]

    def _rank(self, area: Area) -> RankedArea | None:
        """Return how an area is listed; None: not at all, or below the floor."""
        stops = area.stops
        if not stops:
            return None
        empty, freshest, half_cents = len(stops), stops[-1], 0
        if area.amounts:
            half_cents = area.half_cents()
            freshest = max(freshest, area.latest_trip)
            if self._cuts and half_cents & 1:
                half_cents += -1 if half_cents > 0 else 1
        elif not self._lists_idle:
            return None
        floor_half_cents, floor_empty = self._floor
        if half_cents * floor_empty < floor_half_cents * empty:
            return None
        return rank_exactly(area.number, half_cents, empty, freshest)

    def _replace(self, was: RankedArea | None, now: RankedArea | None) -> bool:
        order = self._order
        touched = False
        if was is not None:
            place = bisect_left(order, was)
            touched = place + REPORTED >= len(order)
            del order[place]
        if now is not None:
            insort(order, now)
            touched = touched or len(order) <= REPORTED or now >= order[-REPORTED]
        return touched

    def _raise_floor(self) -> None:
        """Leave the best `KEPT` areas in order, and those that are as profitable as the last of them."""
        last = self._order[-KEPT]
        self._floor = (last.half_cents, last.empty)
        below = bisect_left(self._order, (last.score,))
        for each in self._order[:below]:
            self._areas[each.area].rank = None
        del self._order[:below]
        self._most = 2 * len(self._order)

    def _look_at_all(self) -> None:
        """Put all areas in order, then raise the floor anew."""
        self._floor = _NO_FLOOR
        self._order = []
        for area in self._areas.values():
            area.rank = self._rank(area)
            if area.rank is not None:
                self._order.append(area.rank)
        self._order.sort()
        if len(self._order) > KEPT:
            self._raise_floor()


class CentsRanking(ShareRanking):
    """Ranks by profitabilities in whole cents, cut towards zero."""

    def _rank(self, area: Area) -> RankedArea | None:
        rank = super()._rank(area)
        return None if rank is None else rank_in_cents(rank.area, rank.half_cents, rank.empty, rank.freshest)

    def _raise_floor(self) -> None:
        """Raise the floor to whole cents, as what is not cut yet is compared with it.

        Cutting leads nothing across whole cents above zero; from zero down it does, so there the floor stays.
        """
        score = self._order[-KEPT].score
        if score > 0:
            super()._raise_floor()
            self._floor = (half_cents_of(score), 1)


def area_merge(q2_emit: Literal["areas", "values"] = "areas") -> TopMerge[RankedArea]:
    """Return what merges the tops of areas.

    Args:
        q2_emit: `areas`: an answer is another one when its ten areas or their order are others; `values`:
            also when an area's number of empty taxis or profit is.
    """
    shown = ("place", "empty", "half_cents") if q2_emit == "values" else ("place",)
    return TopMerge(attrgetter(*shown))
