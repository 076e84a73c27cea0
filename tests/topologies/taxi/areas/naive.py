"""Query 2 straight from its definitions: everything is computed anew at each row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from formats.semantics import Semantics


@dataclass(frozen=True)
class Ride:
    """A row that counts."""

    n: int
    time_s: int
    medallion: str
    start: int
    end: int
    cents: int


@dataclass(frozen=True)
class Listed:
    """An area in the ranking; the profit in half cents."""

    area: int
    empty: int
    half_cents: Fraction
    freshest: int


def naive(rides: list[Ride], semantics: Semantics) -> list[list[Listed]]:
    """All listed areas after each row, best first; of those that one row made fresh the lower is first."""
    return [_listed(rides[: last + 1], semantics) for last in range(len(rides))]


def _listed(rides: list[Ride], semantics: Semantics) -> list[Listed]:
    now_s = rides[-1].time_s
    latest = {ride.medallion: ride for ride in rides}
    listed = []
    for area in {ride.end for ride in latest.values()}:
        stops = [ride for ride in latest.values() if ride.end == area and now_s - 1_800 < ride.time_s]
        trips = [ride for ride in rides if ride.start == area and now_s - 900 < ride.time_s]
        if semantics.negative_profit == "ignored":
            trips = [ride for ride in trips if ride.cents >= 0]
        if stops and (trips or semantics.idle_areas == "zero"):
            profit = _median(sorted(ride.cents for ride in trips), semantics)
            listed.append(Listed(area, len(stops), profit, max(ride.n for ride in (*stops, *trips))))
    return sorted(listed, key=lambda each: (-each.half_cents / each.empty, -each.freshest, each.area))


def _median(cents: list[int], semantics: Semantics) -> Fraction:
    if not cents:
        return Fraction(0)
    middle = Fraction(cents[(len(cents) - 1) // 2] + cents[len(cents) // 2], 2)
    return 2 * (Fraction(int(middle)) if semantics.median == "cents" else middle)  # int cuts towards zero


def random_rides(chance: random.Random, rides: int, *, areas: int = 12, taxis: int = 15) -> list[Ride]:
    """Rows with many ties, steps of whole windows, equal times, zero and negative amounts."""
    time_s, n, made = 1_356_998_400, 0, []
    for _ in range(rides):
        n += chance.choice((1, 1, 1, 2, 5))
        time_s += chance.choice((0, 0, 0, 1, 30, 60, 60, 300, 899, 900, 901, 1_799, 1_800))
        ends = [chance.randint(1, areas) * 1_001 for _ in range(2)]
        cents = chance.choice((-250, 0, 1, 2, 450, 450, 1_000, 1_001, chance.randint(0, 5_000)))
        made.append(Ride(n, time_s, f"taxi {chance.randint(1, taxis)}", ends[0], ends[1], cents))
    return made
