"""Query 1 of the DEBS 2015 Grand Challenge: the most frequent routes of the last half hour.

A window over trips that keeps its routes ranked by (number of trips, freshest trip). It knows no Spark and no
files; `replay.expected` runs it once per block of the data.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

WINDOW_S = 1800
TOP = 10
#: One rank more than is published: rank 11's count tells which of the published routes are beyond doubt.
STATE_RANKS = TOP + 1


@dataclass(frozen=True)
class Ranked:
    """A route with its number of trips in the window.

    Attributes:
        route: Start and end cell, `START-END`, for example `161.170-160.170`.
        count: Trips of the route in the window.
    """

    route: str
    count: int


class RouteWindow:
    """Trips completed in the half-open window (clock - 30 min, clock], ranked by route.

    Of two routes with equal counts the one whose newest trip in the window came later in the stream ranks
    first (the challenge's tie rule, "freshest information first").
    """

    def __init__(self, window_s: int = WINDOW_S) -> None:
        self._window_s = window_s
        self._trips: deque[tuple[int, int, str]] = deque()
        self._sequences: dict[str, deque[int]] = {}
        # For each count a heap of (-newest sequence, route). Entries that no longer hold are dropped on
        # sight; deep ones may stay, at most one per trip added or forgotten.
        self._by_count: dict[int, list[tuple[int, str]]] = {}
        self._members: dict[int, set[str]] = {}
        self._highest = 0

    def __len__(self) -> int:
        return len(self._trips)

    def add(self, sequence: int, time_s: int, route: str) -> None:
        """Take in a trip and forget those that are now half an hour old or older.

        Args:
            sequence: Place of the trip in the stream, strictly rising.
            time_s: Drop-off time in seconds, never falling.
            route: The trip's route.
        """
        self.advance(time_s)
        self._trips.append((time_s, sequence, route))
        sequences = self._sequences.setdefault(route, deque())
        sequences.append(sequence)
        self._move(route, len(sequences) - 1, len(sequences))

    def advance(self, time_s: int) -> None:
        """Set the clock to `time_s` (seconds) and forget the trips that leave the window."""
        while self._trips and self._trips[0][0] <= time_s - self._window_s:
            _, _, route = self._trips.popleft()
            sequences = self._sequences[route]
            sequences.popleft()
            self._move(route, len(sequences) + 1, len(sequences))
            if not sequences:
                del self._sequences[route]

    def ranks(self, depth: int = STATE_RANKS) -> list[Ranked]:
        """Return the first `depth` routes (fewer when the window holds fewer), best first."""
        ranked: list[Ranked] = []
        count = self._highest
        while count > 0 and len(ranked) < depth:
            ranked += [Ranked(route, count) for route in self._freshest(count, depth - len(ranked))]
            count -= 1
        return ranked

    def routes_with(self, count: int) -> list[str]:
        """Return every route with exactly `count` trips in the window, in alphabetical order."""
        return sorted(self._members.get(count, ()))

    def _move(self, route: str, old: int, new: int) -> None:
        if old > 0:
            self._members[old].discard(route)
        if new > 0:
            self._members.setdefault(new, set()).add(route)
            heapq.heappush(self._by_count.setdefault(new, []), (-self._sequences[route][-1], route))
        self._highest = max(self._highest, new)
        while self._highest > 0 and not self._members[self._highest]:
            self._highest -= 1

    def _freshest(self, count: int, limit: int) -> list[str]:
        """Return up to `limit` routes with exactly `count` trips, the freshest first."""
        heap = self._by_count[count]
        members = self._members[count]
        taken: list[tuple[int, str]] = []
        while heap and len(taken) < limit:
            entry = heapq.heappop(heap)
            holds = entry[1] in members and self._sequences[entry[1]][-1] == -entry[0]
            # without a newer trip a route never comes back to a count that it left: no entry is here twice
            if holds:
                taken.append(entry)
        for entry in taken:
            heapq.heappush(heap, entry)
        return [route for _, route in taken]


def challenge_row(pickup: str, dropoff: str, ranked: list[Ranked]) -> str:
    """Return the challenge's output row without its delay: 22 fields, NULL,NULL for each missing route."""
    cells = [entry.route.replace("-", ",") for entry in ranked[:TOP]]
    return ",".join([pickup, dropoff, *cells, *["NULL,NULL"] * (TOP - len(cells))])
