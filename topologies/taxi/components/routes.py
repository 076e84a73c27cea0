"""ComputeRouteID and metronome: the two ways from the filter to countByWindow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from topologies.batches.bolt import BatchBolt, OrderedBolt
from topologies.batches.clock import REBUILD_S, QueryClock, unpack_times
from topologies.batches.header import Header
from topologies.batches.ordered import WHOLE
from topologies.batches.shares import share_of
from topologies.moments import now_us
from topologies.taxi.components.configured import Configured
from topologies.taxi.grid import cell_of
from topologies.taxi.trail import extend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topologies.batches.bolt import Arrived


class ComputeRouteID(Configured, BatchBolt):
    """Names the routes of trips by their cells, and sends each share its own; a share without gets none."""

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "rows"]

    def work(self, header: Header, values: Sequence[Any], came_us: int) -> None:
        """Name the routes of one batch: `n pickup route` per row."""
        trail, text = values
        shares: list[list[str]] = [[] for _ in range(self.shares)]
        for row in text.split("\n") if text else ():
            n, pickup, longitude, latitude, to_longitude, to_latitude = row.split(",")
            start = cell_of(float(longitude), float(latitude))
            route = f"{start}-{cell_of(float(to_longitude), float(to_latitude))}"
            shares[share_of(route, self.shares)].append(f"{n} {pickup} {route}")
        for share, rows in enumerate(shares):
            self.send(header, [share, extend(trail, came_us, now_us()), "\n".join(rows)])


class Metronome(Configured, OrderedBolt):
    """Defines the passing of a query's time: sends all shares the rows at which it moves, never backwards.

    The first share also receives what became of the rows, which travels on to the end.
    """

    outputs: ClassVar = [*Header.FIELDS, "share", "ticks", "account"]
    query: ClassVar[str] = "1"
    parts = (WHOLE,)

    def place(self, tup: Any) -> tuple[int, str]:  # noqa: ARG002 - all come the same way
        """Return the only share."""
        return 0, WHOLE

    def begin(self, header: Header) -> QueryClock:
        """Return the clock as the epoch wants it.

        By choice a trip that left puts its route in front as long as the route's other trips are there: they
        may have come half an hour after it, and stay for half an hour.
        """
        by_change = self.query == "1" and self.semantics.equal_counts == "latest-change"
        return QueryClock(header.query(self.query), 2 * REBUILD_S if by_change else REBUILD_S)

    def work(self, share: int, state: QueryClock, header: Header, parts: Mapping[str, Arrived]) -> None:  # noqa: ARG002 - there is one
        """Send the time of one batch; one before the query's start has none."""
        entries, end, times = parts[WHOLE].values
        ticks = account = ""
        if header.serves(self.query):
            moves, what = state.take(header, entries, unpack_times(times), end=bool(end))
            ticks, account = moves.encode(), what.encode()
        for each in range(self.shares):
            self.send(header, [each, ticks, account if each == 0 else ""])
