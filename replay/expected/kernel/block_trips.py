"""The trips of one block that count for one query: in order, without those that go back in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.expected.kernel.stops import Stops, stops

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray


@dataclass(frozen=True)
class Bounds:
    """What a block must know of the others.

    Attributes:
        start_s: Trips that ended at this time or before are history.
        later: By query: the first row, in the order of the stream, that ended in a later block; None if no
            row did. A row of this block that comes after it goes back in time.
    """

    start_s: int
    later: dict[int, int | None]


@dataclass(frozen=True, eq=False)
class BlockTrips:
    """One query's trips of a block.

    Attributes:
        table: The trips, history first; columns as the block's.
        line: (n_trips,) number in the stream, rising.
        stops: Moments of the block.
        goes_back: (n_rejects, 2) number and drop-off of the block's own rows that go back in time.
    """

    table: pa.Table
    line: IntArray
    stops: Stops
    goes_back: IntArray

    @property
    def any_own(self) -> bool:
        """Whether any trip of the block itself counts."""
        return self.stops.own < self.line.size


def time_texts(seconds: IntArray) -> list[str]:
    """Return (n,) seconds since 1970 as the data write times."""
    return [
        text.replace("T", " ") for text in np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()
    ]


def block_trips(table: pa.Table, marker: str, bounds: Bounds, query: int) -> BlockTrips:
    """Select a query's trips of a block.

    A row goes back in time if a row before it in the stream, of those that the query considers, ended later.
    Such a row is in this block or in a later one: of later ones the first row is known.

    Args:
        table: All rows of the block and the half hour before it, in any order; columns `n`, `dropoff_s` and
            others.
        marker: Column that is null where the query does not consider the row.
        bounds: What other blocks hold.
        query: 1 or 2.
    """
    considered = table.filter(table[marker].is_valid()).sort_by("n")
    line = considered["n"].to_numpy()
    times = considered["dropoff_s"].to_numpy()
    back = np.zeros(line.size, dtype=bool)
    back[1:] = times[1:] < np.maximum.accumulate(times)[:-1]
    later = bounds.later[query]
    if later is not None:
        back |= line > later
    own = times > bounds.start_s
    rejected = back & own
    kept = considered.filter(pa.array(~back))
    history = int((~own & ~back).sum())
    return BlockTrips(
        table=kept,
        line=line[~back],
        stops=stops(times[~back], history),
        goes_back=np.stack([line[rejected], times[rejected]], axis=1),
    )
