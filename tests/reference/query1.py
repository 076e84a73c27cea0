"""Query 1, plainly: one row after the other, on one thread, every definition written out."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from tests.reference.choices import Choices, printed_pickup, printed_time
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


class Window:
    """The trips of the last half hour by route."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.trips: deque[tuple[int, str]] = deque()  # time, route
        self.count_of: Counter[str] = Counter()
        self.routes_with: dict[int, set[str]] = {}
        self.fresh: dict[str, int] = {}  # decides between routes of equal counts
        self.changes = 0

    def leaving(self, now_s: int) -> list[int]:
        """Instants before a time at which trips leave."""
        return sorted({time_s + WINDOW_S for time_s, _ in self.trips if time_s + WINDOW_S < now_s})

    def leave(self, now_s: int) -> None:
        """Let old trips go, in the order in which they came."""
        while self.trips and self.trips[0][0] <= now_s - WINDOW_S:
            _, route = self.trips.popleft()
            self._change(route, -1)
            if self.choices.equal_counts == "latest-change":
                self.fresh[route] = self.changes

    def add(self, now_s: int, route: str) -> None:
        """Take a trip in."""
        self.trips.append((now_s, route))
        self._change(route, 1)
        self.fresh[route] = self.changes

    def _change(self, route: str, by: int) -> None:
        self.changes += 1
        self.routes_with.setdefault(self.count_of[route], set()).discard(route)
        self.count_of[route] += by
        self.routes_with.setdefault(self.count_of[route], set()).add(route)

    def ranked(self) -> list[str]:
        """The eleven routes with the most trips; of equals the freshest first."""
        ranked: list[str] = []
        counts = [count for count, routes in self.routes_with.items() if count and routes]
        for count in sorted(counts, reverse=True):
            ranked += sorted(self.routes_with[count], key=lambda route: self.fresh[route], reverse=True)
            if len(ranked) >= 11:
                break
        return ranked[:11]


def query1(lines: list[str], choices: Choices | None = None) -> Answers:
    """The answers of query 1."""
    choices = choices or Choices()
    answers = Answers()
    clock = 0
    window = Window(choices)
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
        for instant in window.leaving(clock) if choices.expiry == "own-rows" else ():
            window.leave(instant)
            if window.ranked()[:10] != best:
                best = window.ranked()[:10]
                time = printed_time(instant)
                answers.tops.append((n, _row(time, time, best, choices)))
        window.leave(clock)
        window.add(clock, f"{start}-{end}")

        ranked = window.ranked()
        answers.passed.append(n)
        state: list[list[object]] = [[each, window.count_of[each]] for each in ranked]
        if answers.states and answers.states[-1][1] == row.dropoff:
            answers.states.pop()
        answers.states.append((n, row.dropoff, state))
        if ranked[:10] != best:
            best = ranked[:10]
            answers.tops.append((n, _row(printed_pickup(row, choices), row.dropoff, best, choices)))
    return answers


def _row(pickup: str, dropoff: str, best: list[str], choices: Choices) -> str:
    missing = "NULL,NULL" if choices.nulls == "per-cell" else "NULL"
    cells = [each.replace("-", ",") for each in best] + [missing] * (10 - len(best))
    return ",".join([pickup, dropoff, *cells])
