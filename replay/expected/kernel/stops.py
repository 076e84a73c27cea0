"""The moments at which a block of trips is looked at: after each trip, and at the end of minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, IntArray

MINUTE_S = 60


@dataclass(frozen=True, eq=False)
class Stops:
    """A block's moments in order; at each the clock is set first, then at most one trip is taken in.

    Attributes:
        times: (n_trips,) drop-off of each trip in seconds, never falling; the first are history.
        own: Number of the first trip that is no history.
        clock: (n_stops,) seconds, never falling.
        row: (n_stops,) last trip taken in.
        of_row: (n_trips,) stop at which the trip is taken in.
        takes: (n_stops,) whether a trip is taken in.
        instant: (n_stops,) whether it is the last trip of a drop-off instant; never for history.
        minute: (n_stops,) whether the stop is the end of a minute in which trips ended; never for history.
        leaves: (n_stops,) whether it is an instant between two trips at which something leaves a window, and
            which is to be looked at.
    """

    times: IntArray
    own: int
    clock: IntArray
    row: IntArray
    of_row: IntArray
    takes: BoolArray
    instant: BoolArray
    minute: BoolArray
    leaves: BoolArray

    @property
    def first_own(self) -> int:
        """The first stop behind the last trip that is history."""
        return int(self.of_row[self.own - 1]) + 1 if self.own else 0

    def expiry(self, window_s: int) -> IntArray:
        """Return (n_trips,) the first stop at which a trip is `window_s` old or older; n_stops if none is."""
        return np.searchsorted(self.clock, self.times + window_s, side="left")


def stops(times: IntArray, own: int) -> Stops:
    """Lay out the stops of a block.

    A block ends at the end of a minute, so that no later block has a trip of its last instant or minute.

    Args:
        times: (n_trips,) drop-off in seconds, never falling.
        own: Number of history trips, which come first; fewer than n_trips.
    """
    trips = times.size
    following = np.append(times[1:], np.iinfo(np.int64).max)
    minute_end = -(-times // MINUTE_S) * MINUTE_S
    mine = np.arange(trips) >= own
    marked = (following > minute_end) & mine
    of_row = np.arange(trips) + np.cumsum(marked) - marked
    count = trips + int(marked.sum())
    takes = np.zeros(count, dtype=bool)
    takes[of_row] = True
    row = np.cumsum(takes) - 1
    instant = np.zeros(count, dtype=bool)
    instant[of_row] = (following > times) & mine
    clock = np.where(takes, times[row], minute_end[row])
    return Stops(times, own, clock, row, of_row, takes, instant, ~takes, np.zeros(count, dtype=bool))


def with_leaving(plain: Stops, windows_s: Sequence[int]) -> Stops:
    """Add the instants between two trips at which a trip leaves a window.

    Args:
        plain: Stops without them.
        windows_s: Lengths of the windows, seconds.
    """
    times = plain.times
    ends = np.unique(np.concatenate([times + length for length in windows_s]))
    following = np.searchsorted(times, ends, side="left")
    ends, following = ends[following < times.size], following[following < times.size]
    between = times[following] > ends
    ends, following = ends[between], following[between]
    place = np.searchsorted(plain.clock, ends, side="left")  # before the end of a minute of the same time
    takes = np.insert(plain.takes, place, values=False)
    return Stops(
        times,
        plain.own,
        clock=np.insert(plain.clock, place, ends),
        row=np.insert(plain.row, place, following - 1),
        of_row=np.flatnonzero(takes),
        takes=takes,
        instant=np.insert(plain.instant, place, values=False),
        minute=np.insert(plain.minute, place, values=False),
        leaves=np.insert(np.zeros(plain.clock.size, dtype=bool), place, values=True),
    )
