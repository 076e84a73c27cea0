"""What a coordinate and a trip time are: stream, Spark's tasks and the plain program read them alike."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from formats.semantics import Semantics
from replay.expected.considered import judge
from replay.expected.raw_trips import from_lines
from tests.reference.choices import Choices, printed_pickup, printed_time
from tests.reference.rows import read_row
from topologies.taxi.numbers import may_be_plain, number
from topologies.taxi.replay.check import Checker
from topologies.taxi.trip import PICKUP, LineReader

PLACES = [
    *("-73.956528", "40.716976", " -73.98 ", "+40.75", "-7.3956528e1", "407.16976E-1", "0", "-0.0", ".5"),
    *("40.", "1e300", "1e308", "-1e308"),
]
FOREIGN = "\N{ARABIC-INDIC DIGIT FOUR}\N{ARABIC-INDIC DIGIT SIX}"
NO_PLACES = ["", "x", "nan", "inf", "-Infinity", "-7_3.95", FOREIGN, f"4{FOREIGN}.7", "1e309", "40_", "0x10"]
TRIP_TIMES = ["60", "0", "-5", " 60", "100.0", "1e2", "+7", "060", "2147483647", "-2147483647"]
NO_TRIP_TIMES = [
    *("", "x", "1.5", "1_00", FOREIGN, "nan", "inf", "1e400"),
    *("2147483648", "3000000000", "-2147483648"),
]


def lines_of(seed: int, count: int = 400) -> list[str]:
    chance = random.Random(seed)
    lines = []
    for _ in range(count):
        places = [chance.choice(NO_PLACES if chance.random() < 0.08 else PLACES) for _ in range(4)]
        trip_time = chance.choice(NO_TRIP_TIMES if chance.random() < 0.4 else TRIP_TIMES)
        year = chance.choice(["2013", "2013", "0001", "9999"])
        times = f"{year}-01-01 00:00:00,{year}-01-01 00:01:00,{trip_time}"
        lines.append(f"T,L,{times},1,{','.join(places)},CSH,1,0,0,1,0,2")
    return lines


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pickup", ["column", "computed"])
def test_three_computations_read_a_line_alike(seed: int, pickup: str) -> None:
    """Why it is no trip, or the pick-up that would be printed."""
    lines = lines_of(seed)
    reader = LineReader(("1",), Semantics(pickup=pickup))
    batch = pa.RecordBatch.from_pydict({"line": list(range(1, len(lines) + 1)), "text": lines})
    judged = judge(from_lines(batch), (1,), Semantics(pickup=pickup)).to_pylist()
    seen = set()
    for n, (line, kernel) in enumerate(zip(lines, judged, strict=True), start=1):
        row = read_row(n, line)
        plain = row if isinstance(row, str) else printed_pickup(row, Choices(pickup=pickup))
        read = reader.read(line)
        stream = read[1:] if read.startswith("!") else printed_time(int(read.split(",")[PICKUP]))
        unread = kernel["reason1"] == "coordinates"
        spark = "coordinates" if unread else printed_time(kernel["pickup_s"])
        assert stream == plain == spark, line
        seen.add(stream)
    assert "coordinates" in seen
    assert len(seen) > (8 if pickup == "computed" else 3)


@pytest.mark.parametrize("text", [*PLACES, *NO_PLACES, *TRIP_TIMES, *NO_TRIP_TIMES])
def test_quick_looks_find_what_a_slow_one_does(text: str) -> None:
    """Of one line and of many, at each place of a number."""
    line = "T,L,2013-01-01 00:00:00,2013-01-01 00:01:00,60,1,-73.9,40.7,-73.9,40.7,CSH,1,0,0,1,0,2"
    for column in (4, 5, 6, 9, 11, 12, 14, 16):
        fields = line.split(",")
        fields[column] = text
        changed = ",".join(fields).encode()
        (one,) = Checker().look_at_all([changed])
        assert (one.fault is None) == (number(text) is not None), column
        assert [one] == [Checker().look(changed)]


def test_a_text_that_may_be_plain_has_only_numbers_that_float_takes() -> None:
    assert may_be_plain("12.5,-3e4, 7")
    assert not may_be_plain("1_2")
    assert not may_be_plain(FOREIGN)
