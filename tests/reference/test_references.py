"""The plain references against figures that are known of the real rows."""

from __future__ import annotations

from pathlib import Path

from tests.reference.choices import Choices
from tests.reference.query1 import query1
from tests.reference.query2 import query2
from tests.reference.rows import read_lines

DATA = Path(__file__).parents[2] / "data" / "debs2015"
HEAD = DATA / "debs2015_20day_head10004.csv.gz"


def line(minute: int, ends: str, fare: str, taxi: str) -> str:
    """A trip between two of the places below; `ends` names them."""
    place = {"a": "-73.956528,40.716976", "b": "-73.962440,40.715008", "c": "-73.990000,40.750000"}
    times = f"2013-01-01 00:00:00,2013-01-01 00:{minute:02}:00"
    return f"{taxi},L,{times},60,1.0,{place[ends[0]]},{place[ends[1]]},CSH,{fare},0,0,0.00,0,{fare}"


def test_the_real_rows_have_their_known_answers() -> None:
    answers = query1(read_lines(HEAD))

    assert len(answers.passed) == 9_826
    assert dict(answers.rejected) == {"zero_coordinates": 176, "outside_grid": 2}
    assert len(answers.tops) == 589
    assert answers.tops[0][1].split(",")[2:6] == ["161.170", "160.170"] + ["NULL"] * 2


def test_a_taxi_that_leaves_makes_its_area_dearer() -> None:
    """Profitability is the median by the taxis that wait; the next row of one of them takes it away."""
    rows = [
        line(1, "ab", "10.00", "A"),
        line(1, "bb", "20.00", "B"),
        line(2, "cc", "8.00", "A"),
    ]

    states = query2(rows).states

    (waiting,) = [entry for entry in states[0][2] if entry[1] == 2]
    assert waiting[2:] == ["20.000", "10.000000"]
    (left,) = [entry for entry in states[1][2] if entry[0] == waiting[0]]
    assert left[1:] == [1, "20.000", "20.000000"]


def test_values_change_more_often_than_areas() -> None:
    """Known of all rows, and compared over the first ones."""
    lines = read_lines(HEAD)
    first = 2_500

    areas, values = query2(lines), query2(lines[:first], Choices(q2_emit="values"))

    assert len(areas.tops) == 254
    assert set() < {n for n, _ in areas.tops if n <= first} < {n for n, _ in values.tops}
