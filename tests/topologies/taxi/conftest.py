"""A plain single-threaded reference of query 1, written for the tests alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Answer:
    """After one valid row: the best eleven as (route, count), the output row when one is due, and sizes."""

    n: int
    dropoff: str
    ranking: list[tuple[str, int]]
    top: str | None
    trips: int
    routes: int


def cell(longitude: float, latitude: float) -> tuple[int, int]:
    return (
        math.floor((longitude + 74.913585) / 0.005986 + 0.5) + 1,
        math.floor((41.474937 - latitude) / 0.004491556 + 0.5) + 1,
    )


def reference(lines: list[str]) -> list[Answer]:
    """Recount the whole window at every row."""
    window: list[tuple[int, int, str]] = []
    answers: list[Answer] = []
    previous: list[str] | None = None
    for n, line in enumerate(lines, start=1):
        column = line.split(",")
        longitude, latitude, to_longitude, to_latitude = map(float, column[6:10])
        cells = (cell(longitude, latitude), cell(to_longitude, to_latitude))
        if not all(1 <= index <= 300 for each in cells for index in each):
            continue
        day, clock = column[3].split(" ")
        hours, minutes, seconds = map(int, clock.split(":"))
        now = int(day.split("-")[2]) * 86_400 + hours * 3_600 + minutes * 60 + seconds
        window = [trip for trip in window if now - trip[0] < 1_800]
        window.append((now, n, "-".join(f"{east}.{south}" for east, south in cells)))
        counts = Counter(route for _, _, route in window)
        freshest = {route: number for _, number, route in window}  # a later trip overwrites
        best = nlargest(11, zip(counts.values(), map(freshest.__getitem__, counts), counts, strict=True))
        ranking = [(route, count) for count, _, route in best]
        ten = [route for route, _ in ranking[:10]]
        top = None
        if ten != previous:
            texts = [text for route in ten for text in route.split("-")]
            top = ",".join([column[2], column[3], *texts, *["NULL"] * (20 - len(texts))])
        previous = ten
        answers.append(Answer(n, column[3], ranking, top, len(window), len(counts)))
    return answers


@pytest.fixture(scope="session")
def reference_of() -> Callable[[list[str]], list[Answer]]:
    return reference


@pytest.fixture(scope="session")
def expected(lines: list[str]) -> list[Answer]:
    """The reference's answers for the 10,004 real rows."""
    return reference(lines)
