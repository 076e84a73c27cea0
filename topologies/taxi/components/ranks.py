"""PartialRank and globalRank: from counts to the ten most frequent routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from topologies.batches.bolt import OrderedBolt
from topologies.batches.header import Header
from topologies.batches.ordered import WHOLE
from topologies.moments import now_us
from topologies.taxi.challenge import output_row, state_json, time_text
from topologies.taxi.components.sink import Answers, ResultsBolt
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.semantics import Semantics
from topologies.taxi.trail import extended
from topologies.taxi.window import RouteCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topologies.batches.bolt import Arrived
    from topologies.batches.clock import Account, Ticks


class PartialRank(OrderedBolt):
    """Ranks the routes of a share and emits its best eleven where they changed, as changes are written."""

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "ticks", "account", "tops"]
    _rankings: dict[int, PartialRanking]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start without ranks; an epoch's first batch makes them."""
        super().initialize(storm_conf, context)
        self._rankings = {}

    def place(self, tup: Any) -> tuple[int, str]:
        """Return the share that the tuple names."""
        return tup.values[len(Header.FIELDS)], WHOLE

    def begin(self, share: int, header: Header) -> None:  # noqa: ARG002 - all begin alike
        """Start with no ranks."""
        self._rankings[share] = PartialRanking()

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
        trail = extended(trail, part.came_us, now_us())
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

    def answers(self, shares: Sequence[str], ticks: Ticks, account: Account) -> Answers:
        """Return what the query says of a batch of which the shares sent their tops."""
        tops: list[str] = []
        states: list[str] = []
        over = iter(self.instants_over(ticks, account))
        instant = next(over, None)
        for n, pickup_s, time_s, changed in _rows(shares):
            while instant is not None and instant[0] <= n:
                states.append(self._state(instant))
                instant = next(over, None)
            if self._ranking.update(changed):
                times = time_text(pickup_s), time_text(time_s)
                tops.append(f"{n} {output_row(*times, self._ranking.answer, self._nulls)}")
        while instant is not None:
            states.append(self._state(instant))
            instant = next(over, None)
        return Answers(tops, states)

    def _state(self, instant: tuple[int, int, int]) -> str:
        _, last, time_s = instant
        return f"{last} {time_s} {state_json(self._ranking.top)}"


def _rows(shares: Sequence[str]) -> list[tuple[int, int, int, dict[int, list[RouteCount]]]]:
    """Return row, pick-up, time and the tops that changed, in order of the rows."""
    rows: dict[int, tuple[int, int, dict[int, list[RouteCount]]]] = {}
    for share, text in enumerate(shares):
        for line in text.split("\n") if text else ():
            n, pickup_s, time_s, *ranks = line.split(" ")
            each = iter(ranks)
            top = [
                RouteCount(route, int(count), int(row))
                for route, count, row in zip(each, each, each, strict=True)
            ]
            rows.setdefault(int(n), (int(pickup_s), int(time_s), {}))[2][share] = top
    return [(n, *rows[n]) for n in sorted(rows)]
