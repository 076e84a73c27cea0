"""What query 2's components do that no chain shows: edges of sieve, shares and epochs."""

from __future__ import annotations

from typing import Any

import pytest

from formats.semantics import Semantics
from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE, ORIGIN_LATITUDE, ORIGIN_LONGITUDE
from tests.topologies.taxi.areas.chain import Task
from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.taxi.areas.area_tops import pack_tops, unpack_tops
from topologies.taxi.areas.columns import pack_columns, unpack_columns
from topologies.taxi.areas.profitability import rank_exactly
from topologies.taxi.settings import SHARES_KEY
from topologies.taxi.sieve import area_sieve, route_sieve
from topologies.taxi.tops import ShareTop

HERE = (ORIGIN_LONGITUDE + 0.1, ORIGIN_LATITUDE - 0.1)
WEST_EDGE = (ORIGIN_LONGITUDE - 0.4 * CELL_LONGITUDE, ORIGIN_LATITUDE - 0.1)
SOUTH_EDGE = (ORIGIN_LONGITUDE + 0.1, ORIGIN_LATITUDE - 299.6 * CELL_LATITUDE)
NO_FIX = (0.0, ORIGIN_LATITUDE)


def read(
    start: tuple[float, float], end: tuple[float, float], fare: str = "4.5", tip: str = "0"
) -> list[str]:
    return ["1000", "900", *map(repr, (*start, *end)), "M1", fare, tip]


@pytest.mark.parametrize(
    ("row", "routes", "areas"),
    [
        (read(HERE, HERE), "1000,900", "1000,900"),
        (read(WEST_EDGE, HERE), "1000,900", "!outside_grid"),
        (read(HERE, SOUTH_EDGE), "!outside_grid", "1000,900"),
        (read(HERE, HERE, fare="x"), "1000,900", "!fares"),
        (read(HERE, HERE, tip="nan"), "1000,900", "!fares"),
        (read(HERE, HERE, tip="1e308"), "1000,900", "!fares"),
        (read(HERE, NO_FIX), "!zero_coordinates", "!zero_coordinates"),
        (read(NO_FIX, HERE, fare=""), "!zero_coordinates", "!fares"),
        (["!columns"], "!columns", "!columns"),
    ],
)
def test_a_row_may_count_for_one_query_and_not_for_the_other(row: list[str], routes: str, areas: str) -> None:
    """Each query has its own grid; amounts matter to query 2 only, before coordinates do."""
    assert route_sieve().sift(7, [row])[1] == [routes]
    passing, times = area_sieve(Semantics()).sift(7, [row])
    assert times == [areas]
    assert len(passing) == (areas[0] != "!")


def test_fare_and_tip_are_rounded_each() -> None:
    """Half a cent of each is half a cent twice, to even: 0 + 2 cents, not 2.5."""
    (row,), _ = area_sieve(Semantics()).sift(7, [read(HERE, HERE, "0.005", "0.015")])
    assert row == ",".join(["7", "900", *map(repr, (*HERE, *HERE)), "2", "M1"])


def header(first: int, after: int, clock_s: int | None = None, origin: int = 1) -> Header:
    return Header(1, origin, first, after, pack_queries({"2": QueryStart(origin, clock_s, 0)}))


def test_an_epoch_may_begin_within_an_instant() -> None:
    """No step states the time of its first rows, as it did not move: the shares begin at the clock before."""
    taxis, areas = Task("emptyTaxis", {}), Task("profitability", {})
    begun = header(50, 52, clock_s=1_000, origin=50)
    rows = pack_columns([["50", "51"], ["900", "901"], ["7007", "8008"], ["M1", "M2"]])
    assert taxis.process("areaMetronome", "default", [*begun.values, 0, ";", ""]) == []
    ((_, changes),) = taxis.process("computeAreaID", "taxis", [*begun.values, 0, "1", rows])
    assert changes[-1] == "50,51\n900,901\n7007,8008\n50,51"
    trips = pack_columns([["50", "51"], ["900", "901"], ["7007", "9009"], ["450", "500"]])
    assert areas.process("computeAreaID", "trips", [*begun.values, 0, trips]) == []
    assert areas.process("emptyTaxis", "default", changes) == []
    ((_, tops),) = areas.process("areaMetronome", "default", [*begun.values, 0, ";", "account"])
    assert tops[5:6] + tops[7:] == [0, ";", "account", "50 900 1000 7007 900 1 50"]
    # both expire at their times, with the pick-up of the row that moves the clock
    later = header(52, 53, clock_s=1_000, origin=50)
    taxis.process("computeAreaID", "taxis", [*later.values, 0, "1", ""])
    ((_, changes),) = taxis.process("areaMetronome", "default", [*later.values, 0, ";52/2800/2700", ""])
    assert changes[-1] == "52,52\n2700,2700\n7007,8008\n-50,-51"


def test_every_share_of_the_areas_receives_every_batch() -> None:
    """Also those where nothing happens, or they would wait for ever; changes go where their areas are."""
    taxis = Task("emptyTaxis", {SHARES_KEY: 3})
    begun = header(1, 2)
    taxis.process("areaMetronome", "default", [*begun.values, 2, ";1/1000/900", ""])
    rows = pack_columns([["1"], ["900"], ["7003"], ["M1"]])
    emitted = taxis.process("computeAreaID", "taxis", [*begun.values, 2, "1", rows])
    sent = [(values[5], values[6], values[8]) for _, values in emitted]
    assert sent == [(0, 2, ""), (1, 2, "1\n900\n7003\n1"), (2, 2, "")]


def test_packed_texts_are_read_as_they_were() -> None:
    """Columns and tops, also without any rows or areas."""
    for columns in ([["1", "2"], ["a b", "c"]], [[], []]):
        assert unpack_columns(pack_columns(columns), 2) == columns
    tops = [
        ShareTop(1, 900, 1_000, [rank_exactly(7_007, -5, 2, 1), rank_exactly(8_008, 900, 3, 9)]),
        ShareTop(2, 9, 9, []),
    ]
    assert list(unpack_tops(pack_tops(tops))) == tops
    assert list(unpack_tops("")) == []


@pytest.mark.parametrize("text", ["1,2\n3,4\n5,6", "1,2\n3", "1"])
def test_columns_that_do_not_fit_are_refused(text: str) -> None:
    """Another number of columns, or different lengths."""
    with pytest.raises(ValueError, match="columns of the same length"):
        unpack_columns(text, 2)


def test_a_task_of_two_shares_keeps_them_apart() -> None:
    """The shares have their own taxis, and their own place in the rows."""
    taxis = Task("emptyTaxis", {SHARES_KEY: 2})
    begun = header(1, 2)
    rows = pack_columns([["1"], ["900"], ["7002"], ["M1"]])

    def step(share: int, text: str) -> list[Any]:
        taxis.process("areaMetronome", "default", [*begun.values, share, ";1/1000/900", ""])
        return [
            values[-1]
            for _, values in taxis.process("computeAreaID", "taxis", [*begun.values, share, "1", text])
        ]

    assert step(1, rows) == ["1\n900\n7002\n1", ""]
    assert step(0, "") == ["", ""]
