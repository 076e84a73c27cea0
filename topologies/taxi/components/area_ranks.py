"""Profitability and globalAreaRank: from trips and empty taxis to the ten most profitable areas."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from topologies.batches.bolt import OrderedBolt
from topologies.batches.clock import Ticks
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.taxi.areas.area_share import AreaShare
from topologies.taxi.areas.area_tops import pack_tops, unpack_tops
from topologies.taxi.areas.columns import unpack_columns
from topologies.taxi.areas.profitability import rank_exactly, rank_in_cents
from topologies.taxi.areas.share_ranking import area_merge
from topologies.taxi.challenge import area_state, area_values
from topologies.taxi.components.configured import Configured
from topologies.taxi.components.sink import ResultsBolt
from topologies.taxi.tops import ShareTop
from topologies.taxi.trail import extend, latest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from topologies.batches.bolt import Arrived
    from topologies.taxi.areas.profitability import RankedArea
    from topologies.taxi.tops import TopMerge

_TRIPS, _CLOCK = "computeAreaID", "areaMetronome"
_STEP, _TAXI, _TRIP = range(3)


class Profitability(Configured, OrderedBolt):
    """Ranks the areas of a share and emits its best eleven where they changed.

    A batch is whole when the trips that started in the share's areas, the changes of empty taxis from every
    share of the taxis, and the passing of time are there.
    """

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "ticks", "account", "tops"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read how many shares of taxis there are."""
        super().initialize(storm_conf, context)
        self.parts = (_TRIPS, _CLOCK, *map(str, range(self.shares)))

    def place(self, tup: Any) -> tuple[int, str]:
        """Return the share that the tuple names, and its component, or of emptyTaxis the share of taxis."""
        share, second, *_ = tup.values[len(Header.FIELDS) :]
        return share, str(second) if tup.component == "emptyTaxis" else tup.component

    def begin(self, header: Header) -> AreaShare:
        """Return a share without trips and taxis, at the clock before the query's start."""
        return AreaShare(self.semantics, header.query("2").clock_s)

    def work(self, share: int, state: AreaShare, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Rank the areas row by row through one batch."""
        taxis = {name: part for name, part in parts.items() if name not in {_TRIPS, _CLOCK}}
        _, ticks, account = parts[_CLOCK].values
        tops: list[ShareTop] = []
        if ticks:
            changes = [part.values[-1] for part in taxis.values()]
            moves = Ticks.decode(ticks)
            own_rows = self.semantics.expiry == "own-rows"
            tops = _rank(state, moves, parts[_TRIPS].values[-1], changes, own_rows=own_rows)
        last = max(part.came_us for part in taxis.values())
        trail = latest(part.values[2] for part in taxis.values())
        trail = extend(trail, last, parts[_CLOCK].came_us, now_us())
        self.send(header, [share, trail, ticks if share == 0 else "", account, pack_tops(tops)])


def _rank(
    areas: AreaShare, ticks: Ticks, trips: str, taxis: Sequence[str], *, own_rows: bool
) -> list[ShareTop]:
    """Do what the rows of a batch do, in their order, and look at the ranks once after each row.

    With `own_rows` also after each instant between rows at which a trip or a taxi leaves.
    """
    events = [(step.n, _STEP, step.time_s, 0, step.pickup_s) for step in ticks.steps]
    for kind, text in ((_TRIP, trips), *((_TAXI, each) for each in taxis)):
        numbers, pickups, places, values = (map(int, column) for column in unpack_columns(text, 4))
        events += zip(numbers, repeat(kind), places, values, pickups, strict=False)
    events.sort()
    leaving = deque[tuple[int, int, int, int]]()  # row, instant, area, stop
    if own_rows:  # what happens between two rows stands in front, with its row negative
        between = bisect_left(events, (0,))
        leaving.extend(sorted((-n, instant, place, stop) for n, _, place, stop, instant in events[:between]))
        del events[:between]
    tops: list[ShareTop] = []
    row = pickup_s = 0
    for n, kind, place, value, pickup in events:
        if n != row:
            _look(areas, row, pickup_s, tops)
            row, pickup_s = n, pickup
        if kind == _TAXI:
            areas.taxi(place, value)
        elif kind == _TRIP:
            if n not in ticks.late:
                areas.trip(n, place, value)
        else:
            if own_rows:
                _leave(areas, n, place, leaving, tops)
            areas.advance(place)
    _look(areas, row, pickup_s, tops)
    return tops


def _leave(
    areas: AreaShare, n: int, time_s: int, leaving: deque[tuple[int, int, int, int]], tops: list[ShareTop]
) -> None:
    """Let trips and taxis go that leave before a row, instant by instant."""
    while True:
        instant = areas.leaves_s()
        if leaving and leaving[0][0] == n:
            instant = min(instant, leaving[0][1])
        if instant >= time_s:
            return
        instant_s = int(instant)
        areas.advance(instant_s)
        while leaving and leaving[0][:2] == (n, instant_s):
            _, _, place, stop = leaving.popleft()
            areas.taxi(place, stop)
        _look(areas, n, instant_s, tops)


def _look(areas: AreaShare, row: int, pickup_s: int, tops: list[ShareTop]) -> None:
    """Look at the ranks after a row or an instant."""
    top = areas.settle()
    if top is not None:
        tops.append(ShareTop(row, pickup_s, areas.now_s, top))


class GlobalAreaRank(ResultsBolt):
    """The last component of query 2."""

    query: ClassVar = "2"
    values: ClassVar = 4
    rank_text = staticmethod(area_values)
    state_text = staticmethod(area_state)

    def merge(self) -> TopMerge[RankedArea]:
        """Return a merge of areas."""
        return area_merge(self.semantics.q2_emit)

    def read(self, text: str) -> Iterator[ShareTop]:
        """Yield what a share sent."""
        return unpack_tops(text, rank_in_cents if self.semantics.profitability == "cents" else rank_exactly)
