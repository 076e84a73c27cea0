"""Query 2, plainly: one row after the other, on one thread, every definition written out."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter

from tests.reference.choices import Choices, printed_pickup, printed_time
from tests.reference.query1 import Answers
from tests.reference.rows import Row, cents, has_no_fix, read_row, square

PROFIT_S = 900
EMPTY_S = 1800


@dataclass(frozen=True)
class Trip:
    """A trip that counts for the profit of the area where it started."""

    n: int
    time_s: int
    area: str
    cents: int


@dataclass(frozen=True)
class Stop:
    """A taxi's latest drop-off."""

    n: int
    time_s: int
    area: str


@dataclass(frozen=True)
class Listed:
    """An area in the ranking; of two the one with the greater rank is the better one."""

    profitability: float  # of small fractions, equal if and only if they are
    area: str
    empty: int
    profit: Fraction
    rank: tuple[float, int, int, int]


class City:
    """All areas, as they are after the rows so far."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.trips: deque[Trip] = deque()
        self.trips_of: dict[str, list[Trip]] = {}
        self.stop_of: dict[str, Stop] = {}  # by medallion, in order of the rows
        self.stops_at: dict[str, list[Stop]] = {}
        self.listed: dict[str, Listed] = {}
        self.ranking: list[Listed] = []  # the same, the best one last

    def take(self, row: Row, start: str, end: str, cents: int) -> None:
        """One row, all or nothing."""
        self.wait(row.time_s)
        touched = {start, end}
        if row.medallion in self.stop_of:
            touched.add(self._leave(row.medallion))
        self.stop_of[row.medallion] = Stop(row.n, row.time_s, end)
        self.stops_at.setdefault(end, []).append(self.stop_of[row.medallion])
        if cents >= 0 or self.choices.negative_profit == "kept":
            self.trips.append(Trip(row.n, row.time_s, start, cents))
            self.trips_of.setdefault(start, []).append(self.trips[-1])
        for area in touched:
            self._judge(area)

    def leaving(self, now_s: int) -> list[int]:
        """Instants before a time at which a trip or a taxi leaves."""
        instants = {trip.time_s + PROFIT_S for trip in self.trips}
        instants |= {stop.time_s + EMPTY_S for stop in self.stop_of.values()}
        return sorted(instant for instant in instants if instant < now_s)

    def wait(self, now_s: int) -> None:
        """Let old trips and taxis go."""
        touched = set()
        while self.trips and self.trips[0].time_s <= now_s - PROFIT_S:
            trip = self.trips.popleft()
            self.trips_of[trip.area].remove(trip)
            touched.add(trip.area)
        while self.stop_of and next(iter(self.stop_of.values())).time_s <= now_s - EMPTY_S:
            touched.add(self._leave(next(iter(self.stop_of))))
        for area in touched:
            self._judge(area)

    def _leave(self, medallion: str) -> str:
        """Take an empty taxi out of its area; returns the area."""
        stop = self.stop_of.pop(medallion)
        self.stops_at[stop.area].remove(stop)
        return stop.area

    def _judge(self, area: str) -> None:
        """List an area anew."""
        before = self.listed.pop(area, None)
        if before is not None:
            del self.ranking[bisect_left(self.ranking, before.rank, key=attrgetter("rank"))]
        trips, stops = self.trips_of.get(area, []), self.stops_at.get(area, [])
        if not stops or (not trips and self.choices.idle_areas == "hidden"):
            return
        profit = self._median([trip.cents for trip in trips])
        freshest = max(event.n for event in (*trips, *stops))
        each = profit / len(stops)
        if self.choices.profitability == "cents":
            each = Fraction(int(each * 100), 100)  # cut towards zero
        east, south = map(int, area.split("."))
        # of two equal ones that one row made fresh, its start and its end, the lower index is first
        rank = (float(each), freshest, -east, -south)
        self.listed[area] = Listed(float(each), area, len(stops), profit, rank)
        insort(self.ranking, self.listed[area], key=attrgetter("rank"))

    def _median(self, cents: list[int]) -> Fraction:
        """Median in dollars."""
        if not cents:
            return Fraction(0)
        ordered = sorted(cents)
        middle = len(ordered) // 2
        if len(ordered) % 2:
            return Fraction(ordered[middle], 100)
        total = ordered[middle - 1] + ordered[middle]
        if self.choices.median == "exact":
            return Fraction(total, 200)
        whole = abs(total) // 2  # cut, not rounded down: towards zero
        return Fraction(whole if total >= 0 else -whole, 100)

    def best(self) -> list[Listed]:
        """The eleven most profitable areas."""
        return self.ranking[:-12:-1]


def _shown(best: list[Listed], choices: Choices) -> list[object]:
    """What is another answer when it is another one."""
    return [each.area for each in best[:10]] if choices.q2_emit == "areas" else list(_state(best[:10]))


def query2(lines: list[str], choices: Choices | None = None) -> Answers:
    """The answers of query 2."""
    choices = choices or Choices()
    answers = Answers()
    city = City(choices)
    clock = 0
    last: list[object] = []
    for n, line in enumerate(lines, start=1):
        row = read_row(n, line)
        if isinstance(row, str):
            answers.rejected[row] += 1
            continue
        paid = cents(row.fare, row.tip)
        if paid is None:
            answers.rejected["fares"] += 1
            continue
        if has_no_fix(row):
            answers.rejected["zero_coordinates"] += 1
            continue
        corner = choices.area_grid == "corner"
        start, end = square(row.start, 2, 600, corner=corner), square(row.end, 2, 600, corner=corner)
        if start is None or end is None:
            answers.rejected["outside_grid"] += 1
            continue
        if row.time_s < clock:
            answers.rejected["time_goes_back"] += 1
            continue
        clock = row.time_s
        last = _wait(city, clock, n, last, answers)
        city.take(row, start, end, paid)

        best = city.best()
        answers.passed.append(n)
        state = _state(best)
        if answers.states and answers.states[-1][1] == row.dropoff:
            answers.states.pop()
        answers.states.append((n, row.dropoff, state))
        if (shown := _shown(best, choices)) != last:
            last = shown
            answers.tops.append((n, _row(printed_pickup(row, choices), row.dropoff, best, choices)))
    return answers


def _wait(city: City, clock: int, n: int, last: list[object], answers: Answers) -> list[object]:
    """Answer by choice in rows of their own what leaves before row n; returns what was shown last."""
    for instant in city.leaving(clock) if city.choices.expiry == "own-rows" else ():
        city.wait(instant)
        best = city.best()
        if (shown := _shown(best, city.choices)) != last:
            last = shown
            time = printed_time(instant)
            answers.tops.append((n, _row(time, time, best, city.choices)))
    return last


def _state(best: list[Listed]) -> list[list[object]]:
    return [
        [each.area, each.empty, f"{float(each.profit):.3f}", f"{each.profitability:.6f}"] for each in best
    ]


def _row(pickup: str, dropoff: str, best: list[Listed], choices: Choices) -> str:
    ten = [",".join(map(str, entry)) for entry in _state(best[:10])]
    null = ",".join(["NULL"] * (4 if choices.nulls == "per-cell" else 1))
    return ",".join([pickup, dropoff, *ten, *[null] * (10 - len(ten))])
