"""What is wrong with a line is found by the same rules for one line and for many."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from topologies.taxi.replay.check import Checker

if TYPE_CHECKING:
    from collections.abc import Callable


def changed(line: str, column: int, text: str) -> str:
    fields = line.split(",")
    fields[column] = text
    return ",".join(fields)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.encode(), None),
        (lambda text: text.replace("M1", "Mé").encode("latin-1"), "encoding"),
        (lambda _: b"", "columns"),
        (lambda text: f"{text},".encode(), "columns"),
        (lambda text: changed(text, 2, "2013-02-30 00:00:00").encode(), "pickup_datetime"),
        (lambda text: changed(text, 3, "01.01.2013 00:00").encode(), "dropoff_datetime"),
        (lambda text: changed(changed(text, 2, ""), 3, "").encode(), "pickup_datetime"),
        (lambda text: changed(text, 6, "west").encode(), "coordinates"),
        (lambda text: changed(text, 9, "inf").encode(), "coordinates"),
        (lambda text: changed(text, 11, "").encode(), "fares"),
        (lambda text: changed(text, 14, "nan").encode(), "fares"),
        (lambda text: changed(text, 4, "5 min").encode(), "numbers"),
        (lambda text: changed(text, 16, "-inf").encode(), "numbers"),
        (lambda text: changed(changed(text, 11, "1e308"), 12, "1e308").encode(), None),
    ],
)
def test_a_fault_has_a_name(
    line: Callable[[int, int], str], change: Callable[[str], bytes], fault: str | None
) -> None:
    """The topology's own where it rejects such a row."""
    row = Checker().look(change(line(1, 60)))
    assert row.fault == fault
    assert row.line == change(line(1, 60))
    assert (row.time_s is None) == (fault in {"columns", "dropoff_datetime"} or b",," in row.line[:80])


def test_order_is_looked_at_in_good_rows(line: Callable[[int, int], str]) -> None:
    """Going back is a fault until the time is there again; twice the same is one within an instant only."""
    lines = [line(1, 10), line(2, 10), line(1, 10), line(3, 9), line(4, 10), line(4, 10), line(1, 11), "x"]
    checker = Checker()
    faults = [checker.look(each.encode()).fault for each in lines]
    assert faults == [None, None, "duplicate", "goes_back", None, "duplicate", None, "columns"]


def messy(line: Callable[[int, int], str], rng: random.Random) -> list[bytes]:
    lines: list[bytes] = []
    second = 0
    for number in range(600):
        second += rng.random() < 0.2
        text = line(number, second)
        kind = rng.randrange(60)
        if kind == 0:
            text = line(number, second - 3)
        elif kind == 1:
            text = changed(text, rng.randrange(17), rng.choice(["", "nan", "-", "7"]))
        elif kind == 2 and lines:
            lines.append(rng.choice(lines[-4:]))
        elif kind == 3:
            text = text[: rng.randrange(len(text))]
        lines.append(text.encode() if kind != 4 else text.encode() + b"\xff")
    return lines


@pytest.mark.parametrize("seed", range(20))
def test_many_lines_are_judged_as_one_by_one(line: Callable[[int, int], str], seed: int) -> None:
    """However they are cut into blocks."""
    rng = random.Random(seed)
    lines = messy(line, rng)
    one: Any = Checker()
    many: Any = Checker()
    expected = [one.look(each) for each in lines]
    got = []
    at = 0
    while at < len(lines):
        size = rng.choice([1, 2, 7, 40])
        got += many.look_at_all(lines[at : at + size])
        at += size
    assert got == expected
    assert {row.fault for row in expected} >= {None, "goes_back", "columns", "duplicate"}


@pytest.mark.parametrize("some", [[], [b"malformed"]])
def test_a_file_of_one_instant_does_not_fill_the_memory(
    line: Callable[[int, int], str], some: list[bytes]
) -> None:
    """Only so many of its lines are remembered, whether they are looked at together or one by one."""
    checker: Any = Checker()
    for begin in range(0, 20_000, 250):
        checker.look_at_all([*some, *(line(n, 5).encode() for n in range(begin, begin + 250))])
    assert len(checker._instant) == 10_000
    assert checker.look(line(3, 5).encode()).fault == "duplicate"
    assert checker.look(line(3, 6).encode()).fault is None
