"""EmptyTaxis: which taxis come to areas and leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from topologies.batches.bolt import OrderedBolt
from topologies.batches.clock import Ticks
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.taxi.areas.columns import empty_columns, pack_columns, unpack_columns
from topologies.taxi.areas.taxi_share import TaxiShare
from topologies.taxi.components.configured import Configured
from topologies.taxi.trail import extend

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topologies.batches.bolt import Arrived
    from topologies.batches.clock import Step
    from topologies.taxi.areas.columns import Columns

_ROWS, _CLOCK = "computeAreaID", "areaMetronome"


class EmptyTaxis(Configured, OrderedBolt):
    """Keeps the taxis of its shares, and sends each share of the areas the changes there, maybe none.

    A change is the row at which it happens, that row's pick-up, the area, and the row of the drop-off that
    made the taxi empty there, negative when the taxi leaves. Changes are in order of the rows. By choice a
    taxi that leaves between two rows has the next row, negative, and in place of the pick-up the instant.
    """

    outputs: ClassVar = [*Header.FIELDS, "share", "taxis", "trail", "changes"]
    parts = (_ROWS, _CLOCK)

    def begin(self, header: Header) -> TaxiShare:
        """Return a share without empty taxis, at the clock before the query's start."""
        return TaxiShare(header.query("2").clock_s)

    def work(self, share: int, state: TaxiShare, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Follow the taxis through one batch."""
        rows, clock = parts[_ROWS], parts[_CLOCK]
        _, trail, text = rows.values
        _, ticks, _ = clock.values
        shares = empty_columns(self.shares)
        if ticks:
            own_rows = self.semantics.expiry == "own-rows"
            _follow(state, text, Ticks.decode(ticks), shares, own_rows=own_rows)
        trail = extend(trail, rows.came_us, clock.came_us, now_us())
        for each, columns in enumerate(shares):
            self.send(header, [each, share, trail, pack_columns(columns)])


def _follow(taxis: TaxiShare, text: str, ticks: Ticks, shares: Sequence[Columns], *, own_rows: bool) -> None:
    """Take drop-offs and move the time, in order of the rows; add the changes to their areas' shares."""
    steps = iter(ticks.steps)
    step = next(steps, None)
    for number, pickup, area, medallion in zip(*unpack_columns(text, 4), strict=True):
        n = int(number)
        while step is not None and step.n <= n:
            if own_rows:
                _leave(taxis, step, shares)
            _add(shares, str(step.n), str(step.pickup_s), taxis.advance(step.time_s))
            step = next(steps, None)
        if n not in ticks.late:
            _add(shares, number, pickup, taxis.drop_off(n, medallion, int(area)))
    while step is not None:
        if own_rows:
            _leave(taxis, step, shares)
        _add(shares, str(step.n), str(step.pickup_s), taxis.advance(step.time_s))
        step = next(steps, None)


def _leave(taxis: TaxiShare, step: Step, shares: Sequence[Columns]) -> None:
    """Let taxis go that leave before the time of the step."""
    while taxis.leaves_s() < step.time_s:
        instant_s = int(taxis.leaves_s())
        _add(shares, str(-step.n), str(instant_s), taxis.advance(instant_s))


def _add(shares: Sequence[Columns], number: str, pickup: str, changes: Iterable[tuple[int, int]]) -> None:
    for area, stop in changes:
        numbers, pickups, areas, stops = shares[area % len(shares)]
        numbers.append(number)
        pickups.append(pickup)
        areas.append(str(area))
        stops.append(str(stop))
