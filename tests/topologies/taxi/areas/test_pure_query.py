"""The classes of query 2 put together, against the definitions and against the plain reference."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from formats.semantics import Semantics
from tests.reference.choices import Choices
from tests.reference.query2 import query2
from tests.reference.rows import has_no_fix, read_row
from tests.topologies.taxi.areas.naive import Ride, naive, random_rides
from topologies.taxi.areas.area_share import AreaShare
from topologies.taxi.areas.money import cents
from topologies.taxi.areas.share_ranking import area_merge
from topologies.taxi.areas.taxi_share import TaxiShare
from topologies.taxi.challenge import area_state, area_values, output_row
from topologies.taxi.grid import AreaGrid
from topologies.taxi.tops import TOP
from topologies.taxi.trip import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topologies.taxi.areas.profitability import RankedArea

ALL_CHOICES = [
    Semantics("per-cell", "column", "centred", *values)
    for values in itertools.product(
        ("exact", "cents"), ("hidden", "zero"), ("kept", "ignored"), ("areas", "values")
    )
]


class City:
    """The pure classes put together, taxis and areas spread over shares as parallel tasks would."""

    def __init__(self, semantics: Semantics, shares: int) -> None:
        self.taxis = [TaxiShare() for _ in range(shares)]
        self.areas = [AreaShare(semantics) for _ in range(shares)]
        self.merge = area_merge(semantics.q2_emit)

    def take(self, ride: Ride) -> bool:
        """Take a row and return whether the answer changed."""
        changes = [change for each in self.taxis for change in each.advance(ride.time_s)]
        taxis = self.taxis[sum(ride.medallion.encode()) % len(self.taxis)]
        changes += taxis.drop_off(ride.n, ride.medallion, ride.end)
        tops = {}
        for share, areas in enumerate(self.areas):
            areas.advance(ride.time_s)
            for area, stop in changes:
                if area % len(self.areas) == share:
                    areas.taxi(area, stop)
            if ride.start % len(self.areas) == share:
                areas.trip(ride.n, ride.start, ride.cents)
            top = areas.settle()
            if top is not None:
                tops[share] = top
        return self.merge.update(tops)


def seen(best: list[RankedArea]) -> list[tuple[int, int, int, int]]:
    return [(each.area, each.empty, each.half_cents, each.freshest) for each in best]


@pytest.mark.parametrize("shares", [1, 2, 4])
@pytest.mark.parametrize("semantics", ALL_CHOICES, ids=str)
def test_every_row_gives_what_the_definitions_say(semantics: Semantics, shares: int) -> None:
    """Best eleven with their values, and whether an output row is due, under all choices and shares."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rides = random_rides(random.Random(seed), 60)
    city = City(semantics, shares)
    answer: object = []
    for ride, listed in zip(rides, naive(rides, semantics), strict=True):
        due = city.take(ride)
        expected = [(each.area, each.empty, each.half_cents, each.freshest) for each in listed]
        assert seen(city.merge.best) == expected[:11]
        values = semantics.q2_emit == "values"
        shown = [each[:3] if values else each[0] for each in expected[:10]]
        assert due == (shown != answer)
        answer = shown


def counted(lines: list[str], alignment: str) -> Iterator[tuple[Ride, str, str]]:
    """Rows of the real file that count, with their printed times: sorted, no bad fares."""
    grid = AreaGrid("corner" if alignment == "corner" else "centred")
    for n, line in enumerate(lines, start=1):
        row = read_row(n, line)
        assert not isinstance(row, str)
        fare, tip = cents(row.fare), cents(row.tip)
        start, end = grid.area_at(*row.start), grid.area_at(*row.end)
        if not has_no_fix(row) and start and end:
            assert fare is not None
            assert tip is not None
            yield Ride(n, row.time_s, row.medallion, start, end, fare + tip), row.pickup, row.dropoff


def test_real_rows_give_the_reference_answers(lines: list[str]) -> None:
    """Output rows and states of real rows are the plain reference's, over three shares, by other choices."""
    lines = lines[:3_000]
    semantics = Semantics("per-cell", "column", "corner", "cents", "zero", "ignored", "values")
    expected = query2(lines, Choices(**asdict(semantics)))
    city = City(semantics, shares=3)
    passed, tops, states = [], [], {}
    for ride, pickup, dropoff in counted(lines, semantics.area_grid):
        passed.append(ride.n)
        if city.take(ride):
            ranks = [area_values(each) for each in city.merge.best[:TOP]]
            pickup_s = parse_time(pickup)
            assert pickup_s is not None
            tops.append((ride.n, output_row(pickup_s, ride.time_s, ranks, nulls=4)))
        states[dropoff] = (ride.n, dropoff, json.loads(area_state(city.merge.best)))
    assert passed == expected.passed
    assert tops == expected.tops
    assert list(states.values()) == expected.states
    assert len(tops) > 50
