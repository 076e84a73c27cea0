"""Both queries as plainly as can be: every window is searched anew after every row. For kernels' tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from formats.semantics import Semantics

if TYPE_CHECKING:
    from collections.abc import Callable

Ranks = list[tuple[object, ...]]


class NaiveTrip(NamedTuple):
    """A row; `route` or `start` is None where a query does not consider it."""

    n: int
    dropoff_s: int
    pickup_s: int
    route: int | None
    taxi: str | None
    start: int | None
    end: int | None
    cents: int | None


@dataclass
class NaiveAnswers:
    """All ranked entries, best first, by row and by minute; the rows that changed the best ten."""

    passed: list[int] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)
    instants: dict[int, Ranks] = field(default_factory=dict)
    minutes: dict[int, tuple[int, Ranks]] = field(default_factory=dict)
    tops: list[tuple[int, Ranks]] = field(default_factory=list)


def routes_at(trips: list[NaiveTrip], clock: int, _: Semantics) -> Ranks:
    """Return (route, count) best first."""
    window = [trip for trip in trips if clock - 1800 < trip.dropoff_s <= clock]
    counts = Counter(trip.route for trip in window)
    fresh = {trip.route: trip.n for trip in window}
    return sorted(((r, c) for r, c in counts.items()), key=lambda each: (-each[1], -fresh[each[0]]))


def areas_at(trips: list[NaiveTrip], clock: int, semantics: Semantics) -> Ranks:
    """Return (area, empty taxis, twice the median, profitability as printed) best first."""
    latest = {trip.taxi: trip for trip in trips}
    empty: dict[int, list[int]] = {}
    for trip in latest.values():
        if trip.dropoff_s > clock - 1800 and trip.end is not None:
            empty.setdefault(trip.end, []).append(trip.n)
    listed = []
    for area, rows in empty.items():
        paid = [
            trip
            for trip in trips
            if trip.start == area
            and trip.dropoff_s > clock - 900
            and (semantics.negative_profit == "kept" or (trip.cents or 0) >= 0)
        ]
        if not paid and semantics.idle_areas == "hidden":
            continue
        profits = sorted(trip.cents or 0 for trip in paid)
        middle = profits[(len(profits) - 1) // 2] + profits[len(profits) // 2] if profits else 0
        if semantics.median == "cents":
            middle = 2 * int(middle / 2)
        fresh = max([*rows, *(trip.n for trip in paid)])
        profitability = Fraction(middle, 200 * len(rows))
        if semantics.profitability == "cents":
            profitability = Fraction(int(profitability * 100), 100)
        listed.append((-profitability, -fresh, area, len(rows), middle, float(f"{float(profitability):.6f}")))
    return [(area, taxis, middle, shown) for _, _, area, taxis, middle, shown in sorted(listed)]


def answer(
    trips: list[NaiveTrip],
    ranks_at: Callable[[list[NaiveTrip], int, Semantics], Ranks],
    semantics: Semantics | None = None,
) -> NaiveAnswers:
    """Answer a query over rows in the order of the stream."""
    semantics = semantics or Semantics()
    answers, taken = NaiveAnswers(), []
    considered = [t for t in trips if (t.route if ranks_at is routes_at else t.start) is not None]
    clock = -(2**60)
    for trip in considered:
        if trip.dropoff_s < clock:
            answers.rejected.append(trip.n)
        else:
            clock = trip.dropoff_s
            taken.append(trip)
    answers.passed = [trip.n for trip in taken]
    width = None if semantics.q2_emit == "values" and ranks_at is areas_at else 1
    best: Ranks = []
    for place, trip in enumerate(taken):
        following = taken[place + 1].dropoff_s if place + 1 < len(taken) else 2**60
        ranks = ranks_at(taken[: place + 1], trip.dropoff_s, semantics)
        seen = [entry[:width] for entry in ranks[:10]]
        if seen != best:
            answers.tops.append((trip.n, ranks[:10]))
            best = seen
        if following > trip.dropoff_s:
            answers.instants[trip.n] = ranks
        minute = -(-trip.dropoff_s // 60) * 60
        if following > minute:
            answers.minutes[minute] = (trip.n, ranks_at(taken[: place + 1], minute, semantics))
    return answers
