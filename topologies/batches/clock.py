"""The clock of a query: which rows count, when its time moves, and from where its windows can be rebuilt."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from topologies.batches.ranges import pack_ranges, unpack_ranges

if TYPE_CHECKING:
    from topologies.batches.header import Header, QueryStart

REBUILD_S = 30 * 60
"""Age at which a row has left all windows, seconds of event time."""

TIME_GOES_BACK = "time_goes_back"
"""Reason of rows that end before the query's clock."""


REJECT = "!"
"""Begins the text of a row that does not count; its reason follows."""


class Moment(NamedTuple):
    """What the clock has to know of a row that may count.

    Attributes:
        dropoff_s: Event time, seconds since 1970.
        pickup_s: Pick-up, seconds since 1970.
    """

    dropoff_s: int
    pickup_s: int


def unpack_times(packed: str) -> list[Moment | str]:
    """Return for each row its moment, or why it does not count.

    Args:
        packed: `DROPOFF,PICKUP` (seconds since 1970) or `!REASON` of each row, joined by blanks.

    Raises:
        ValueError: The text is none of times.
    """
    rows: list[Moment | str] = []
    for text in packed.split(" ") if packed else ():
        if text[0] == REJECT:
            rows.append(text[1:])
        else:
            dropoff, _, pickup = text.partition(",")
            rows.append(Moment(int(dropoff), int(pickup)))
    return rows


class Step(NamedTuple):
    """The clock moves, with a row: what expires then is written with this row's pick-up."""

    n: int
    time_s: int
    pickup_s: int


class Rebuild(NamedTuple):
    """From where the windows behind a batch can be rebuilt: entry, a row in it, the clock before the row."""

    entry: str
    n: int
    clock_s: int | None


@dataclass(frozen=True, slots=True)
class Ticks:
    """What each share has to know of a batch's time.

    Attributes:
        steps: Where the clock moves, in order of the rows.
        late: Rows that do not count as they would turn the clock back.
    """

    steps: tuple[Step, ...] = ()
    late: frozenset[int] = frozenset()

    def encode(self) -> str:
        """Return the ticks as one text."""
        return f"{pack_ranges(sorted(self.late))};{' '.join('/'.join(map(str, step)) for step in self.steps)}"

    @classmethod
    def decode(cls, text: str) -> Self:
        """Return the ticks of an encoded text.

        Raises:
            ValueError: The text was not made by `encode`.
        """
        late, semicolon, steps = text.partition(";")
        if not semicolon:
            raise ValueError(f"{text[:80]!r} are no ticks")
        return cls(
            tuple(Step(*map(int, step.split("/"))) for step in steps.split(" ") if step),
            frozenset(unpack_ranges(late)),
        )


@dataclass(frozen=True, slots=True)
class Account:
    """What became of a batch's rows, for the end of the way.

    Attributes:
        passed: Rows that count, as ranges.
        rejected: The others: `n reason` joined by `;`.
        rebuild: From where the windows behind this batch can be rebuilt.
        entries: `n id` of each entry of the rows in the batch, joined by `;`.
        end: Whether this is the end of the rows, a batch without any.
    """

    passed: str
    rejected: str
    rebuild: Rebuild
    entries: str
    end: bool = False

    def encode(self) -> str:
        """Return the account as one text."""
        return json.dumps(
            [self.passed, self.rejected, self.rebuild, self.entries, self.end], separators=(",", ":")
        )

    @classmethod
    def decode(cls, text: str) -> Self:
        """Return the account of an encoded text.

        Raises:
            ValueError: The text was not made by `encode`.
        """
        passed, rejected, rebuild, entries, end = json.loads(text)
        return cls(passed, rejected, Rebuild(*rebuild), entries, end)


class _Past(NamedTuple):
    latest_s: int | None
    rebuild: Rebuild


class QueryClock:
    """The clock of one query, for batches in the order of their rows.

    Args:
        start: Where the query stands when the epoch begins.
        rebuild_s: Age at which a row makes no difference any more, seconds of event time.
    """

    def __init__(self, start: QueryStart, rebuild_s: int = REBUILD_S) -> None:
        self._now_s = start.clock_s
        self._rebuild_s = rebuild_s
        self._past: deque[_Past] = deque()

    def take(
        self, header: Header, entries: str, rows: list[Moment | str], *, end: bool = False
    ) -> tuple[Ticks, Account]:
        """Pass the rows of the next batch.

        Args:
            header: The batch; it is the query's.
            entries: `n id` of its entries, joined by `;`; the first holds its first row.
            rows: For each row of the batch its moment, or why it does not count.
            end: Whether it is the end of the rows; then there are none.

        Returns:
            What the shares have to know, and what became of the rows.
        """
        before_s = self._now_s
        steps: list[Step] = []
        late: list[int] = []
        passed: list[int] = []
        rejected: list[str] = []
        now_s = self._now_s
        for n, row in enumerate(rows, start=header.first):
            if isinstance(row, str):
                rejected.append(f"{n} {row}")
                continue
            dropoff_s = row[0]
            if dropoff_s != now_s:
                if now_s is not None and dropoff_s < now_s:
                    late.append(n)
                    rejected.append(f"{n} {TIME_GOES_BACK}")
                    continue
                now_s = dropoff_s
                steps.append(Step(n, dropoff_s, row[1]))
            passed.append(n)
        self._now_s = now_s
        self._remember(Rebuild(_first_id(entries), header.first, before_s), holds_rows=bool(passed))
        ticks = Ticks(tuple(steps), frozenset(late))
        account = Account(pack_ranges(passed), ";".join(rejected), self._past[0].rebuild, entries, end)
        return ticks, account

    def _remember(self, rebuild: Rebuild, *, holds_rows: bool) -> None:
        """Keep the batch, and let go those whose rows have all left the windows."""
        if holds_rows or not self._past:
            self._past.append(_Past(self._now_s if holds_rows else None, rebuild))
        while len(self._past) > 1 and self._is_over(self._past[0]):
            self._past.popleft()

    def _is_over(self, past: _Past) -> bool:
        return past.latest_s is None or self._now_s is None or past.latest_s <= self._now_s - self._rebuild_s


def _first_id(entries: str) -> str:
    return entries.split(";", 1)[0].split(" ")[1]
