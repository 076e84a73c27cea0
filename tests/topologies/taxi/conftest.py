"""A plain single-threaded reference of query 1, written for the tests alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest


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


def valid_rows(lines: list[str]) -> list[tuple[int, list[str], int, str]]:
    """Number, columns, drop-off in seconds and route of the rows on the grid."""
    rows = []
    for n, line in enumerate(lines, start=1):
        column = line.split(",")
        longitude, latitude, to_longitude, to_latitude = map(float, column[6:10])
        cells = (cell(longitude, latitude), cell(to_longitude, to_latitude))
        if all(1 <= index <= 300 for each in cells for index in each):
            day, clock = column[3].split(" ")
            hours, minutes, seconds = map(int, clock.split(":"))
            time_s = int(day.split("-")[2]) * 86_400 + hours * 3_600 + minutes * 60 + seconds
            rows.append((n, column, time_s, "-".join(f"{east}.{south}" for east, south in cells)))
    return rows


def reference(lines: list[str]) -> list[Answer]:
    """Count the whole window anew at every row."""
    rows = valid_rows(lines)
    names = sorted({route for *_, route in rows})
    id_of = {name: index for index, name in enumerate(names)}
    ids = np.array([id_of[route] for *_, route in rows])
    times = np.array([time_s for _, _, time_s, _ in rows])
    answers: list[Answer] = []
    previous: list[str] | None = None
    for index, (n, column, time_s, _) in enumerate(rows):
        first = int(np.searchsorted(times, time_s - 1_800, side="right"))
        inside = ids[first : index + 1]
        counts = np.bincount(inside, minlength=len(names))
        freshest = np.zeros(len(names), dtype=np.int64)
        freshest[inside] = np.arange(first, index + 1) + 1  # of equal routes the last one stays
        keys = counts * 1_000_000 + freshest
        best = np.argpartition(keys, -11)[-11:]
        order = best[np.argsort(-keys[best])]
        ranking = [(names[each], int(counts[each])) for each in order if counts[each]]
        ten = [route for route, _ in ranking[:10]]
        top = None
        if ten != previous:
            texts = [text for route in ten for text in route.split("-")]
            top = ",".join([column[2], column[3], *texts, *["NULL"] * (20 - len(texts))])
        previous = ten
        answers.append(Answer(n, column[3], ranking, top, len(inside), int((counts > 0).sum())))
    return answers


@pytest.fixture(scope="session")
def expected(lines: list[str]) -> list[Answer]:
    """The reference's answers for the 10,004 real rows."""
    return reference(lines)
