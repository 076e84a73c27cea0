"""Whatever stands in the columns of money: stream, kernel of Spark's tasks and a plain program agree."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from formats.semantics import Semantics
from replay.expected.boundaries import false_tops
from replay.expected.considered import judge
from replay.expected.kernel.block_trips import Bounds
from replay.expected.kernel.both_queries import BlockSolver
from replay.expected.raw_trips import from_lines
from tests.reference.query1 import Answers
from tests.reference.query2 import query2

from .conftest import said, written
from .simulated.storm_in_one_process import Storm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NUMBERS = [
    *("9.5", "0", "-2.5", "-0.0", ".5", "5.", "+3", " 4 ", "1e2", "1E-2", "0.125", "0.375", "007"),
    *("1e12", "-1e12", "8796093022208.005", "45035996273704.94", "45035996273704.96", "-45035996273704.96"),
    *("1e15", "-1e15", "1e300", "-1e300", "1e306", "-1e306", "1e307", "1e308", "-1e308", "1e309"),
]
NO_NUMBERS = [
    *("", "x", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "-infinity", "1e", "e5", "0x10", "--1"),
    *("1_000", "1.5_0", "٣", "1 2", "."),
]


def rows_of(seed: int) -> list[str]:
    """Trips between few places, a taxi each or a few, with amounts of all kinds."""
    chance = random.Random(seed)
    places = ["-73.956528,40.716976", "-73.962440,40.715008", "-73.990000,40.750000", "-73.98,40.76"]
    rows = []
    for number in range(120):
        fare, tip = (chance.choice(NO_NUMBERS if chance.random() < 0.05 else NUMBERS) for _ in "12")
        time = f"2013-01-01 00:{number // 4:02}:00"
        start, end = chance.choice(places), chance.choice(places)
        rows.append(
            f"T{chance.randrange(9)},L,{time},{time},60,1,{start},{end},CSH,{fare},0,0,{tip},0,{fare}"
        )
    return rows


def kernel(lines: list[str]) -> Answers:
    """What the work of one Spark task says."""
    batch = pa.RecordBatch.from_pydict({"line": list(range(1, len(lines) + 1)), "text": lines})
    judged = judge(from_lines(batch), (2,), Semantics())
    solver = BlockSolver((2,), Semantics(), {0: Bounds(0, {2: None})})
    found = solver.solve(0, pa.Table.from_batches([judged])).to_pylist()
    # a first row that changed nothing is struck out by the driver
    borders = [row for row in found if row["first"] or row["kind"] == "edge"]
    false = false_tops((row["query"], row["block"], row["kind"], row["labels"]) for row in borders)
    found = [row for row in found if not (row["first"] and (row["query"], row["block"]) in false)]
    reasons = [reason for reason in judged["reason2"].to_pylist() if reason]
    reasons += ["time_goes_back" for row in found if row["kind"] == "reject"]
    dropoffs = [line.split(",")[3] for line in lines]
    return Answers(
        [n for row in found if row["kind"] == "passed" for n in row["lines"]],
        Counter(reasons),
        [(row["line"], row["row"]) for row in found if row["kind"] == "top"],
        [(row["line"], dropoffs[row["line"] - 1], _ranks(row)) for row in found if row["kind"] == "instant"],
    )


def _ranks(row: dict[str, Any]) -> list[list[object]]:
    columns = (row[name] for name in ("names", "counts", "medians", "profitabilities"))
    ranks = zip(*columns, strict=True)
    return [[area, empty, f"{median:.3f}", f"{each:.6f}"] for area, empty, median, each in ranks]


@pytest.mark.parametrize("seed", range(6))
def test_three_computations_agree_on_any_amounts(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int
) -> None:
    """Huge, negative and tiny ones, infinities, and texts that are no numbers."""
    lines = rows_of(seed)
    plain = query2(lines)
    assert kernel(lines) == plain
    storm = Storm(stage, monkeypatch, seed, queries=("2",))
    storm.redis.feed(lines, random.Random(seed), most=50)
    storm.settle()
    assert storm.errors == []
    assert written(tmp_path, "2", storm.redis.results["2"]) == said(plain)


@pytest.mark.parametrize(
    ("fare", "tip", "counts"),
    [
        ("45035996273704.94", "0", True),  # two cents below 2^52
        ("45035996273704.94", "0.01", True),
        ("45035996273704.94", "0.02", False),
        ("45035996273704.96", "0", False),
        ("-45035996273704.94", "0", True),
        ("-45035996273704.96", "0", False),
        ("1e300", "-1e300", True),  # their sum is nothing
        ("1e308", "-1e308", False),  # in cents they are no numbers
        ("nan", "1", False),
        ("1", "1_0", False),
    ],
)
def test_a_row_counts_when_fare_and_tip_are_numbers_below_the_bound(
    fare: str, tip: str, *, counts: bool
) -> None:
    """The sum in cents decides."""
    place = "-73.956528,40.716976"
    time = "2013-01-01 00:01:00"
    lines = [f"T,L,{time},{time},60,1,{place},{place},CSH,{fare},0,0,{tip},0,1"]
    assert query2(lines).rejected["fares"] == (not counts)
    assert kernel(lines).rejected["fares"] == (not counts)
