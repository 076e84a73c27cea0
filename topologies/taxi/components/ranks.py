"""PartialRank and globalRank: from counts to the ten most frequent routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from topologies.batches.bolt import OrderedBolt
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.taxi.challenge import route_state, route_values
from topologies.taxi.components.configured import Configured
from topologies.taxi.components.sink import ResultsBolt
from topologies.taxi.ranking import PartialRanking, route_merge
from topologies.taxi.tops import ShareTop
from topologies.taxi.trail import extend
from topologies.taxi.window import ROW_BITS, RouteCount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from topologies.batches.bolt import Arrived


class PartialRank(Configured, OrderedBolt):
    """Ranks the routes of a share and emits its best eleven where they changed, as changes are written."""

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "ticks", "account", "tops"]
    parts = ("countByWindow",)

    def begin(self, header: Header) -> PartialRanking:  # noqa: ARG002 - all begin alike
        """Return a share without ranks."""
        by_change = self.semantics.equal_counts == "latest-change"
        return PartialRanking(2 * ROW_BITS if by_change else ROW_BITS)

    def work(self, share: int, state: PartialRanking, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Apply the changes of one batch, row by row."""
        (part,) = parts.values()
        _, trail, ticks, account, changes = part.values
        tops: list[str] = []
        for change in changes.split("\n") if changes else ():
            n, pickup, time, *counts = change.split(" ")
            each = iter(counts)
            for route, count, freshest in zip(each, each, each, strict=True):
                state.update(route, int(count), int(freshest))
            top = state.changed_top()
            if top is not None:
                ranks = [f"{route} {count} {freshest}" for route, count, freshest in top]  # maybe none
                tops.append(" ".join([n, pickup, time, *ranks]))
        trail = extend(trail, part.came_us, now_us())
        self.send(header, [share, trail, ticks, account, "\n".join(tops)])


class GlobalRank(ResultsBolt):
    """The last component of query 1."""

    query: ClassVar = "1"
    values: ClassVar = 2
    merge = staticmethod(route_merge)
    rank_text = staticmethod(route_values)
    state_text = staticmethod(route_state)

    def read(self, text: str) -> Iterator[ShareTop]:
        """Yield the lines of a share: `n pickup time` and the ranks."""
        for line in text.split("\n") if text else ():
            n, pickup_s, time_s, *ranks = line.split(" ")
            each = iter(ranks)
            best = [
                RouteCount(route, int(count), int(row))
                for route, count, row in zip(each, each, each, strict=True)
            ]
            yield ShareTop(int(n), int(pickup_s), int(time_s), best)
