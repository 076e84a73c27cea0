"""Shared fixtures: an independent reference of query 1, and runs made from it."""

from __future__ import annotations

import gzip
import json
import math
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT = Path(__file__).resolve().parents[2]
REAL = PROJECT / "data" / "debs2015" / "debs2015_20day_head10004.csv.gz"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Reference:
    """Answers of the plain row-by-row reference."""

    rows: int = 0
    passed: list[tuple[int, int]] = field(default_factory=list)
    rejects: dict[int, str] = field(default_factory=dict)
    tops: list[tuple[int, str]] = field(default_factory=list)
    instants: dict[int, tuple[int, int, list[tuple[str, int]], list[str]]] = field(default_factory=dict)
    minutes: dict[int, tuple[int, list[tuple[str, int]]]] = field(default_factory=dict)
    states: list[tuple[int, list[tuple[str, int]]]] = field(default_factory=list)


class Counts:
    """Counts and freshest trips of all routes as flat arrays; every question sorts them anew."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.number: dict[str, int] = {}
        self.counts = np.zeros(20_000, dtype=np.int64)
        self.freshest = np.zeros(20_000, dtype=np.int64)

    def add(self, route: str, line: int) -> None:
        if route not in self.number:
            self.number[route] = len(self.names)
            self.names.append(route)
        self.counts[self.number[route]] += 1
        self.freshest[self.number[route]] = line

    def remove(self, route: str) -> None:
        self.counts[self.number[route]] -= 1

    def ranks(self) -> list[tuple[str, int]]:
        keys = (self.counts * 10**9 + self.freshest) * (self.counts > 0)
        best = np.argsort(keys[: len(self.names)])[::-1][:11]
        return [(self.names[i], int(self.counts[i])) for i in best if self.counts[i] > 0]

    def having(self, count: int) -> list[str]:
        return sorted(self.names[i] for i in np.flatnonzero(self.counts[: len(self.names)] == count))


def cell(lon: float, lat: float) -> tuple[int, int]:
    return (
        math.floor((lon + 74.913585) / 0.005986 + 0.5) + 1,
        math.floor((41.474937 - lat) / 0.004491556 + 0.5) + 1,
    )


def judge(line: str, clock: int) -> tuple[str, int, str, str, str]:  # noqa: PLR0911 - one per reason
    """Return (reason, drop-off, pick-up text, drop-off text, route)."""
    parts = line.split(",")
    if len(parts) != 17:
        return ("columns", 0, "", "", "")
    times = []
    for place, name in ((2, "pickup_datetime"), (3, "dropoff_datetime")):
        try:
            moment = datetime.strptime(parts[place], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        except ValueError:
            return (name, 0, "", "", "")
        if f"{moment:%Y-%m-%d %H:%M:%S}" != parts[place]:
            return (name, 0, "", "", "")
        times.append((moment - EPOCH) // timedelta(seconds=1))
    try:
        numbers = [float(text) for text in parts[6:10]]
    except ValueError:
        return ("coordinates", 0, "", "", "")
    if not all(math.isfinite(number) for number in numbers):
        return ("coordinates", 0, "", "", "")
    if 0.0 in numbers:
        return ("zero_coordinates", 0, "", "", "")
    cells = [cell(*numbers[:2]), cell(*numbers[2:])]
    if not all(1 <= index <= 300 for pair in cells for index in pair):
        return ("outside_grid", 0, "", "", "")
    if times[1] < clock:
        return ("time_goes_back", 0, "", "", "")
    return ("", times[1], parts[2], parts[3], "-".join(f"{e}.{s}" for e, s in cells))


def run_reference(lines: list[str]) -> Reference:
    """Answer query 1 row by row, without blocks, heaps or Spark."""
    answer = Reference(rows=len(lines))
    trips: list[tuple[int, int, str, str, str]] = []
    clock = -(2**60)
    for number, line in enumerate(lines, start=1):
        reason, time_s, pickup, dropoff, route = judge(line, clock)
        if reason:
            answer.rejects[number] = reason
            continue
        clock = time_s
        trips.append((number, time_s, pickup, dropoff, route))
    answer.passed = [(trip[0], trip[1]) for trip in trips]
    counts, oldest, top = Counts(), 0, []

    def expire(now_s: int) -> None:
        nonlocal oldest
        while oldest < len(trips) and trips[oldest][1] <= now_s - 1800:
            counts.remove(trips[oldest][4])
            oldest += 1

    for place, (number, time_s, pickup, dropoff, route) in enumerate(trips):
        expire(time_s)
        counts.add(route, number)
        ranks = counts.ranks()
        routes = [name for name, _ in ranks[:10]]
        if routes != top:
            fields = [part for name in routes for part in name.split("-")]
            row = ",".join([pickup, dropoff, *fields, *["NULL"] * (20 - len(fields))])
            answer.tops.append((number, row))
            top = routes
        following = trips[place + 1][1] if place + 1 < len(trips) else math.inf
        if following > time_s:
            tied = counts.having(ranks[-1][1]) if len(ranks) == 11 else []
            answer.instants[number] = (time_s, place + 1 - oldest, ranks, tied)
            answer.states.append((number, ranks))
        minute = math.ceil(time_s / 60) * 60
        if following > minute:
            expire(minute)
            answer.minutes[minute] = (number, counts.ranks())
    return answer


@pytest.fixture(scope="session")
def reference() -> Callable[[list[str]], Reference]:
    return run_reference


@pytest.fixture(scope="session")
def real_file() -> Path:
    return REAL


@pytest.fixture(scope="session")
def real_lines() -> list[str]:
    with gzip.open(REAL, "rt", encoding="utf-8") as stream:
        return stream.read().splitlines()


def make_line(
    dropoff_s: int, start: tuple[int, int], end: tuple[int, int], taxi: str = "M", fare: str = "3.50"
) -> str:
    """Return a line of 17 columns whose trip goes from the middle of one cell to that of another."""
    fields = [
        taxi,
        "L",
        *(f"{EPOCH + timedelta(seconds=s):%Y-%m-%d %H:%M:%S}" for s in (dropoff_s - 60, dropoff_s)),
    ]
    fields += ["60", "1.0"]
    for east, south in (start, end):
        fields += [
            f"{-74.913585 + (east - 1) * 0.005986:.6f}",
            f"{41.474937 - (south - 1) * 0.004491556:.6f}",
        ]
    return ",".join([*fields, "CSH", fare, "0.50", "0.50", "0.00", "0.00", "4.50"])


@pytest.fixture(scope="session")
def line() -> Callable[..., str]:
    return make_line


def messy_lines(seed: int, rows: int) -> list[str]:
    """Return trips with bursts, long gaps, few routes (many ties) and every kind of fault."""
    rng = random.Random(seed)
    time_s, lines = 1_357_000_000, []
    for _ in range(rows):
        time_s += rng.choice((0, 0, 0, 1, 7, 30, 60, 61, 240))
        if rng.random() < 0.01:
            time_s += rng.choice((1799, 1800, 1801, 3600, 20_000))
        cells = (150, rng.randint(150, 153)), (150, rng.randint(150, 156))
        fare = rng.choice(("2.50", "3.5", "7", "52.00", "-4.00", "free" if rng.random() < 0.2 else "9.00"))
        good = make_line(time_s, *cells, f"T{rng.randint(1, 30)}", fare)
        parts = good.split(",")
        fault = rng.random()
        if fault < 0.02:
            parts.pop()
        elif fault < 0.03:
            parts[3] = "2013-02-30 00:00:00"
        elif fault < 0.04:
            parts[2] = "yesterday"
        elif fault < 0.05:
            parts[7] = ""
        elif fault < 0.07:
            parts[8] = parts[9] = "0.000000"
        elif fault < 0.09:
            parts[6] = "-80.5"
        elif fault < 0.11:
            parts = make_line(time_s - 100, (150, 150), (150, 150)).split(",")
        lines.append(",".join(parts))
    return lines


@pytest.fixture(scope="session")
def messy() -> Callable[[int, int], list[str]]:
    return messy_lines


def write_run_files(answer: Reference, folder: Path) -> None:
    """Write what a stream without faults would leave for these answers."""
    folder.mkdir(parents=True, exist_ok=True)
    results = ["n,row_ms,emit_us,done_us,result_ms,paced"]
    for n, _ in answer.passed:
        row_ms = 1_700_000_000_000 + 100 * n
        late_us = 20_000 + (n * 7919) % 9_000
        emit_us = row_ms * 1000 + 700
        done_us = emit_us + late_us
        results.append(f"{n},{row_ms},{emit_us},{done_us},{done_us // 1000 + 2},{int(n % 3 == 0)}")
    (folder / "results.csv").write_text("\n".join(results) + "\n", encoding="utf-8")
    (folder / "tops.csv").write_text("".join(f"{row}\n" for _, row in answer.tops), encoding="utf-8")
    states = [json.dumps({"n": n, "dropoff": "", "state": ranks}) for n, ranks in answer.states]
    (folder / "states.jsonl").write_text("\n".join(states) + "\n", encoding="utf-8")
    reasons: dict[str, int] = {}
    for reason in answer.rejects.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    summary: dict[str, Any] = {
        "rows": answer.rows,
        "passed": len(answer.passed),
        "rejected": len(answer.rejects),
        "reasons": reasons,
    }
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


@pytest.fixture(scope="session")
def write_run() -> Callable[[Reference, Path], None]:
    return write_run_files
