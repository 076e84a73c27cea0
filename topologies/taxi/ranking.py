"""Ranks of routes: the most frequent first, of equals the one with the freshest trip."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import islice
from typing import TYPE_CHECKING

from topologies.taxi.window import RouteCount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOP = 10
"""Ranks that the query asks for."""

REPORTED = TOP + 1
"""Ranks that are passed on: with the eleventh a reader sees whether a tie decided the tenth."""


class PartialRanking:
    """Every route of one share in order of rank.

    The whole share is kept, not only its top: a route that comes back into the top because others fell needs
    no fresh row of its own, so no rank is ever stale.
    """

    def __init__(self) -> None:
        self._keys: list[tuple[int, int]] = []
        self._route_of: dict[tuple[int, int], str] = {}
        self._key_of: dict[str, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def update(self, changes: Iterable[RouteCount]) -> None:
        """Apply new counts; a count of 0 removes the route.

        Args:
            changes: At most one entry per route; `freshest` is unique among the routes that stay.
        """
        for change in changes:
            key = self._key_of.pop(change.route, None)
            if key is not None:
                del self._keys[bisect_left(self._keys, key)]
                del self._route_of[key]
            if change.count:
                key = (change.count, change.freshest)
                insort(self._keys, key)
                self._route_of[key] = change.route
                self._key_of[change.route] = key

    def top(self, ranks: int = REPORTED) -> list[RouteCount]:
        """Return the best `ranks` routes of the share, best first (fewer when the share holds fewer)."""
        return [RouteCount(self._route_of[key], *key) for key in islice(reversed(self._keys), ranks)]


class GlobalRanking:
    """Merges the shares' tops and notices when the query's answer changes."""

    def __init__(self) -> None:
        self._tops: dict[int, Sequence[RouteCount]] = {}
        self._answer: tuple[str, ...] = ()

    def update(self, tops: Mapping[int, Sequence[RouteCount]]) -> bool:
        """Take the shares' tops after one row.

        Args:
            tops: New top by share; shares that are not named keep theirs.

        Returns:
            Whether the ten best routes or their order changed; a change of counts alone is none.
        """
        self._tops.update(tops)
        answer = tuple(entry.route for entry in self.top(TOP))
        changed = answer != self._answer
        self._answer = answer
        return changed

    @property
    def answer(self) -> tuple[str, ...]:
        """The query's answer: at most ten routes, best first."""
        return self._answer

    def top(self, ranks: int = REPORTED) -> list[RouteCount]:
        """Return the best `ranks` routes of all shares, best first."""
        entries = [entry for top in self._tops.values() for entry in top]
        entries.sort(key=lambda entry: (entry.count, entry.freshest), reverse=True)
        return entries[:ranks]
