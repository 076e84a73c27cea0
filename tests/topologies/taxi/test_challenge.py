"""Output rows have the challenge's columns."""

from __future__ import annotations

from pathlib import Path

from topologies.taxi.challenge import output_row
from topologies.taxi.grid import Route
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.trip import Trip, parse_line
from topologies.taxi.window import SlidingWindow

CASES = Path(__file__).parents[3] / "data" / "debs2015" / "participant_cases"


def test_a_missing_route_is_two_nulls() -> None:
    """Always 22 columns: two times, start and end cell of ten routes."""
    row = output_row("2013-01-01 00:00:00", "2013-01-01 00:02:00", ["161.170-160.170"])
    assert row.split(",") == [
        "2013-01-01 00:00:00",
        "2013-01-01 00:02:00",
        "161.170",
        "160.170",
        *["NULL"] * 18,
    ]


def our_rows(lines: list[str]) -> list[list[str]]:
    window, partial, ranking = SlidingWindow(), PartialRanking(), GlobalRanking()
    rows = []
    for p, trip in enumerate(map(parse_line, lines), start=1):
        assert isinstance(trip, Trip)
        window.advance(trip.dropoff_s)
        window.add(str(Route.between(trip.start, trip.end)), p)
        partial.update(window.take_changes())
        if ranking.update({0: partial.top()}):
            rows.append(output_row(trip.pickup, trip.dropoff, ranking.answer).split(","))
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
