"""Query 1, plainly: one row after the other, on one thread, every definition written out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.reference.choices import Choices, printed_pickup
from tests.reference.rows import has_no_fix, read_row, square

WINDOW_S = 1800


@dataclass
class Answers:
    """What a query says of a file.

    Attributes:
        passed: Numbers of the rows that count.
        rejected: How many do not, by reason.
        tops: Number of the row and output row without delay, for each change.
        states: Number of the instant's last row, its drop-off, and the ranks as lists, for each instant.
    """

    passed: list[int] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    tops: list[tuple[int, str]] = field(default_factory=list)
    states: list[tuple[int, str, list[list[object]]]] = field(default_factory=list)


def query1(lines: list[str], choices: Choices | None = None) -> Answers:
    """The answers of query 1."""
    choices = choices or Choices()
    missing = "NULL,NULL" if choices.nulls == "per-cell" else "NULL"
    answers = Answers()
    clock = 0
    trips: list[tuple[int, int, str]] = []  # time, row, route; those before `oldest` have left the window
    oldest = 0
    rows_of: dict[str, list[int]] = {}  # rows of each route in the window, in order
    routes_with: dict[int, set[str]] = {}
    best: list[str] = []
    for n, line in enumerate(lines, start=1):
        row = read_row(n, line)
        if isinstance(row, str):
            answers.rejected[row] += 1
            continue
        start, end = square(row.start, 1, 300), square(row.end, 1, 300)
        if has_no_fix(row):
            answers.rejected["zero_coordinates"] += 1
            continue
        if start is None or end is None:
            answers.rejected["outside_grid"] += 1
            continue
        if row.time_s < clock:
            answers.rejected["time_goes_back"] += 1
            continue
        clock = row.time_s
        while oldest < len(trips) and trips[oldest][0] <= clock - WINDOW_S:
            route = trips[oldest][2]
            routes_with[len(rows_of[route])].discard(route)
            rows_of[route].pop(0)
            routes_with.setdefault(len(rows_of[route]), set()).add(route)
            oldest += 1
        route = f"{start}-{end}"
        trips.append((clock, n, route))
        rows = rows_of.setdefault(route, [])
        routes_with.setdefault(len(rows), set()).discard(route)
        rows.append(n)
        routes_with.setdefault(len(rows), set()).add(route)

        ranked = _ranked(routes_with, rows_of)
        answers.passed.append(n)
        state: list[list[object]] = [[each, len(rows_of[each])] for each in ranked]
        if answers.states and answers.states[-1][1] == row.dropoff:
            answers.states.pop()
        answers.states.append((n, row.dropoff, state))
        if ranked[:10] != best:
            best = ranked[:10]
            cells = [each.replace("-", ",") for each in best] + [missing] * (10 - len(best))
            answers.tops.append((n, ",".join([printed_pickup(row, choices), row.dropoff, *cells])))
    return answers


def _ranked(routes_with: dict[int, set[str]], rows_of: dict[str, list[int]]) -> list[str]:
    """The eleven routes with the most trips; of equals the one with the freshest trip first."""
    ranked: list[str] = []
    for count in sorted((count for count, routes in routes_with.items() if count and routes), reverse=True):
        ranked += sorted(routes_with[count], key=lambda route: rows_of[route][-1], reverse=True)
        if len(ranked) >= 11:
            break
    return ranked[:11]
