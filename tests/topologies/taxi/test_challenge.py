"""Output rows have the challenge's columns."""

from __future__ import annotations

from pathlib import Path

from formats.semantics import Semantics
from topologies.taxi.areas.profitability import rank_exactly
from topologies.taxi.challenge import area_state, area_values, output_row, route_values, time_text
from topologies.taxi.grid import cell_of
from topologies.taxi.ranking import PartialRanking, route_merge
from topologies.taxi.tops import TOP
from topologies.taxi.trip import LineReader, parse_time
from topologies.taxi.window import RouteCount, SlidingWindow

CASES = Path(__file__).parents[3] / "data" / "debs2015" / "participant_cases"


def test_a_missing_route_is_two_nulls_or_one() -> None:
    """By default always 22 columns: two times, start and end cell of ten routes."""
    times = ("1970-01-01 00:00:00", "1970-01-01 00:02:00")
    values = route_values(RouteCount("161.170-160.170", 1, 1))
    row = output_row(0, 120, [values], nulls=2)
    assert row.split(",") == [*times, "161.170", "160.170", *["NULL"] * 18]
    assert output_row(0, 120, ["a,b"], nulls=1).split(",") == [*times, "a", "b", *["NULL"] * 9]


def test_a_row_has_four_values_per_rank_and_nulls_for_missing_ones() -> None:
    """42 columns; median with three digits, profitability with six; one NULL per rank by choice."""
    best = [rank_exactly(161_170, 2_701, 3, 5), rank_exactly(1_001, -501, 2, 4)]
    front = "1970-01-01 00:00:00,1970-01-01 00:02:00,161.170,3,13.505,4.501667,1.1,2,-2.505,-1.252500"
    ranks = [area_values(each) for each in best]
    assert output_row(0, 120, ranks, nulls=4) == ",".join([front, *["NULL"] * 32])
    assert output_row(0, 120, ranks, nulls=1) == ",".join([front, *["NULL"] * 8])


def test_a_state_has_amounts_as_texts() -> None:
    """No reader shall round them."""
    best = [rank_exactly(area * 1_001, 200, 1, 1) for area in range(1, 12)]
    assert area_state(best).endswith('["11.11",1,"1.000","1.000000"]]')


def test_times_come_out_as_they_went_in() -> None:
    """Also before 1970 and of leap days."""
    for text in ("2013-01-01 00:02:00", "1969-12-31 23:59:59", "2012-02-29 12:00:01"):
        time_s = parse_time(text)
        assert time_s is not None
        assert time_text(time_s) == text


def our_rows(lines: list[str]) -> list[list[str]]:
    reader = LineReader(("1",), Semantics())
    window, partial, ranking = SlidingWindow(), PartialRanking(), route_merge()
    rows = []
    for n, line in enumerate(lines, start=1):
        dropoff_s, pickup_s, *places = reader.read(line).split(",")
        window.advance(int(dropoff_s))
        window.add("-".join((cell_of(*map(float, places[:2])), cell_of(*map(float, places[2:])))), n)
        for change in window.take_changes():
            partial.update(*change)
        top = partial.changed_top()
        if top is not None and ranking.update({0: top}):
            ranks = [route_values(each) for each in ranking.best[:TOP]]
            rows.append(output_row(int(pickup_s), int(dropoff_s), ranks, nulls=2).split(","))
    return rows


def test_a_public_case_has_the_same_structure() -> None:
    """Which rows are written, of how many routes in which order, agrees with a case whose cells differ."""
    lines = [line.replace("f,", ",") for line in (CASES / "query1_inputdata.csv").read_text().splitlines()]
    public = [row.split(",") for row in (CASES / "query1_outputdata.csv").read_text().splitlines()]
    ours = our_rows(lines)
    assert [row[1] + ".0" for row in ours] == [row[1] for row in public]
    for mine, theirs in zip(ours, public, strict=True):
        cells = [cell for cell in mine[2:] if cell != "NULL"]
        others = [cell for cell in theirs[2:] if cell != "NULL"]
        assert len(cells) == len(others)
        # the same cells are equal to each other in both, whatever their names
        assert [cells.index(cell) for cell in cells] == [others.index(cell) for cell in others]
