"""Ranks of routes: the most frequent first, of equals the freshest (its trip, or by choice its change)."""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter

from topologies.taxi.tops import REPORTED, TopMerge
from topologies.taxi.window import ROW_BITS, RouteCount


class PartialRanking:
    """Every route of one share in order of rank.

    The whole share is kept, not only its top: a route that comes back into the top because others fell needs
    no fresh row of its own, so no rank is ever stale.

    Args:
        freshest_bits: Bits that hold `freshest`. A key is the count above them: one whole number compares
            quickly.
    """

    def __init__(self, freshest_bits: int = ROW_BITS) -> None:
        self._bits = freshest_bits
        self._mask = (1 << freshest_bits) - 1
        self._keys: list[int] = []
        self._route_of: dict[int, str] = {}
        self._key_of: dict[str, int] = {}
        self._top: list[RouteCount] = []
        self._least = 0  # key of the last rank that is reported, 0 while all are
        self._touched = False

    def __len__(self) -> int:
        return len(self._keys)

    def update(self, route: str, count: int, freshest: int) -> None:
        """Apply a new count; a count of 0 removes the route.

        Args:
            route: The route.
            count: Its trips in the window.
            freshest: As of `RouteCount`, unique among the routes that stay.
        """
        key = self._key_of.pop(route, None)
        if key is not None:
            del self._keys[bisect_left(self._keys, key)]
            del self._route_of[key]
            self._touched |= key >= self._least
        if count:
            key = (count << self._bits) | freshest
            insort(self._keys, key)
            self._route_of[key] = route
            self._key_of[route] = key
            self._touched |= key >= self._least

    def changed_top(self) -> list[RouteCount] | None:
        """Return the best `REPORTED` routes, best first, or None when they are as at the last call."""
        if not self._touched:
            return None
        self._touched = False
        best = self._keys[: -REPORTED - 1 : -1]
        self._least = best[-1] if len(best) == REPORTED else 0
        bits, mask = self._bits, self._mask
        top = [RouteCount(self._route_of[key], key >> bits, key & mask) for key in best]
        if top == self._top:
            return None
        self._top = top
        return top


def route_merge() -> TopMerge[RouteCount]:
    """Return what merges the tops of routes: a change of counts alone makes no other answer."""
    return TopMerge(attrgetter("route"), attrgetter("count", "freshest"))
