"""PartialRank and globalRank: from counts to the ten most frequent routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from formats.semantics import Semantics
from topologies.batches.bolt import OrderedBolt
from topologies.batches.header import Header
from topologies.batches.ordered import WHOLE
from topologies.moments import now_us
from topologies.taxi.challenge import output_row, state_json, time_text
from topologies.taxi.components.sink import Change, ResultsBolt
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.trail import extend
from topologies.taxi.window import ROW_BITS, RouteCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topologies.batches.bolt import Arrived


class PartialRank(OrderedBolt):
    """Ranks the routes of a share and emits its best eleven where they changed, as changes are written."""

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "ticks", "account", "tops"]
    _rankings: dict[int, PartialRanking]
    _bits: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start without ranks; an epoch's first batch makes them."""
        super().initialize(storm_conf, context)
        self._rankings = {}
        by_change = Semantics.from_conf(storm_conf).equal_counts == "latest-change"
        self._bits = 2 * ROW_BITS if by_change else ROW_BITS

    def place(self, tup: Any) -> tuple[int, str]:
        """Return the share that the tuple names."""
        return tup.values[len(Header.FIELDS)], WHOLE

    def begin(self, share: int, header: Header) -> None:  # noqa: ARG002 - all begin alike
        """Start with no ranks."""
        self._rankings[share] = PartialRanking(self._bits)

    def work(self, share: int, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Apply the changes of one batch, row by row."""
        (part,) = parts.values()
        _, trail, ticks, account, changes = part.values
        ranking = self._rankings[share]
        tops: list[str] = []
        for change in changes.split("\n") if changes else ():
            n, pickup, time, *counts = change.split(" ")
            each = iter(counts)
            for route, count, freshest in zip(each, each, each, strict=True):
                ranking.update(route, int(count), int(freshest))
            top = ranking.changed_top()
            if top is not None:
                ranks = [f"{route} {count} {freshest}" for route, count, freshest in top]  # maybe none
                tops.append(" ".join([n, pickup, time, *ranks]))
        trail = extend(trail, part.came_us, now_us())
        self.send(header, [share, trail, ticks, account, "\n".join(tops)])


class GlobalRank(ResultsBolt):
    """Merges the shares row by row, and writes a batch's results once all shares have come."""

    query: ClassVar[str] = "1"
    _ranking: GlobalRanking
    _nulls: int

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start without ranks; an epoch's first batch makes them."""
        super().initialize(storm_conf, context)
        self._nulls = 2 if Semantics.from_conf(storm_conf).nulls == "per-cell" else 1

    def forget(self) -> None:
        """Start with no ranks."""
        self._ranking = GlobalRanking()

    def changes(self, shares: Sequence[str]) -> list[Change]:
        """Read what the shares sent: `n pickup time` and the ranks, one line per row."""
        moments: dict[tuple[int, int], Change] = {}  # a row, and maybe instants between it and the last one
        for share, text in enumerate(shares):
            for line in text.split("\n") if text else ():
                n, pickup_s, time_s, *ranks = line.split(" ")
                each = iter(ranks)
                top = [
                    RouteCount(route, int(count), int(row))
                    for route, count, row in zip(each, each, each, strict=True)
                ]
                change = Change(int(n), int(pickup_s), int(time_s), {})
                moments.setdefault((change.n, change.time_s), change).tops[share] = top
        return [moments[moment] for moment in sorted(moments)]

    def merge(self, change: Change) -> str | None:
        """Take new tops; a row is due when the ten routes or their order are others."""
        if not self._ranking.update(change.tops):
            return None
        times = time_text(change.pickup_s), time_text(change.time_s)
        return output_row(*times, self._ranking.answer, self._nulls)

    def state(self) -> str:
        """Return the best eleven."""
        return state_json(self._ranking.top)
