"""Puts the rows of a file into a run's Redis stream: first as fast as possible, then at a fixed rate."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, cast

from redis.exceptions import ResponseError

from topologies.taxi.rows import count_lines, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from redis import Redis

    from topologies.taxi.keys import Run

_BATCH = 250
_POLL_S = 0.02
_QUIET_S = 2.0
_REPORT_S = 0.5


class FeedError(Exception):
    """Feeding cannot start or go on; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class FeedPlan:
    """How to feed a file.

    Attributes:
        fast_rows: Rows fed as fast as they are consumed; None: all, or none when a rate is given.
        rate_per_s: Rows per second after that; None: no paced rows.
        paced_rows: Rows at that rate; None: the rest of the file.
        ahead: Most rows in Redis beyond the row of the latest result, which bounds what the topology holds.
        stall_timeout_s: Longest time without any progress, seconds.
    """

    fast_rows: int | None = None
    rate_per_s: float | None = None
    paced_rows: int | None = None
    ahead: int = 2_000
    stall_timeout_s: float = 120.0

    def split(self, lines: int) -> tuple[int, int]:
        """Return how many rows are fast and how many paced, of a file of so many lines."""
        if self.rate_per_s is None:
            return min(lines, lines if self.fast_rows is None else self.fast_rows), 0
        fast = min(lines, self.fast_rows or 0)
        rest = lines - fast
        return fast, rest if self.paced_rows is None else min(rest, self.paced_rows)


@dataclass(frozen=True, slots=True)
class FeedProgress:
    """Where feeding stands.

    Attributes:
        phase: `fast`, `draining` or `paced`.
        fed: Rows in Redis.
        total: Rows to feed.
        answered: Number of the row of the latest result.
        lag_ms: How far the latest paced row was behind its schedule.
    """

    phase: str
    fed: int
    total: int
    answered: int
    lag_ms: float = 0.0


class Feeder:
    """Feeds one file to one run.

    Args:
        redis: Client near Redis, with decoded responses.
        run: The run; it must have no rows yet.
        plan: How to feed.
        report: Called now and then with the progress.
    """

    def __init__(
        self, redis: Redis, run: Run, plan: FeedPlan, report: Callable[[FeedProgress], None]
    ) -> None:
        self._redis = redis
        self._run = run
        self._plan = plan
        self._report = report
        self._fed = 0
        self._total = 0
        self._reported_s = 0.0

    def feed(self, path: Path) -> int:
        """Feed the file and the marker of its end.

        Returns:
            Rows fed.

        Raises:
            RowsError: The file cannot be read (nothing is fed then).
            FeedError: The run has rows already, or the topology makes no progress.
        """
        fast, paced = self._plan.split(count_lines(path))
        self._total = fast + paced
        if self._redis.xlen(self._run.rows):
            msg = f"run {self._run.id} has rows already: choose another run id"
            raise FeedError(msg)
        rate = self._plan.rate_per_s or 0.0
        self._redis.hset(self._run.feed, mapping={"fast_rows": fast, "paced_rows": paced, "rate_per_s": rate})
        lines = read_lines(path)
        self._feed_fast(islice(lines, fast))
        if paced:
            self._await_answers(behind=0, phase="draining")
            self._feed_paced(islice(lines, paced), rate)
        self._redis.xadd(self._run.rows, {"n": self._fed + 1, "end": 1})
        return self._fed

    def _feed_fast(self, lines: Iterator[str]) -> None:
        while batch := list(islice(lines, _BATCH)):
            self._await_answers(behind=max(0, self._plan.ahead - len(batch)), phase="fast")
            pipeline = self._redis.pipeline(transaction=False)
            for line in batch:
                self._fed += 1
                pipeline.xadd(self._run.rows, {"n": self._fed, "line": line})
            pipeline.execute()

    def _feed_paced(self, lines: Iterator[str], rate_per_s: float) -> None:
        start_s = time.monotonic()
        for index, line in enumerate(lines):
            due_s = start_s + index / rate_per_s
            time.sleep(max(0.0, due_s - time.monotonic()))
            self._fed += 1
            self._redis.xadd(self._run.rows, {"n": self._fed, "line": line})
            now_s = time.monotonic()
            if now_s - self._reported_s > _REPORT_S:
                self._tell("paced", self._answered(), (now_s - due_s) * 1_000.0)

    def _await_answers(self, behind: int, phase: str) -> None:
        """Wait until the latest result is at most `behind` rows behind what was fed.

        Rejected rows have no result: a topology that has read all and been quiet for a while is done too.
        """
        seen = (-1, -1)
        seen_s = time.monotonic()
        while True:
            answered, unread = self._answered(), self._unread()
            if self._fed - answered <= behind:
                return
            now_s = time.monotonic()
            if (answered, unread) != seen:
                seen, seen_s = (answered, unread), now_s
            if unread == 0 and now_s - seen_s > _QUIET_S:
                return
            if now_s - seen_s > self._plan.stall_timeout_s:
                what = f"{unread} rows wait to be read" if unread else f"no result after row {answered}"
                msg = (
                    f"run {self._run.id}: no progress for {self._plan.stall_timeout_s:g} s, {what}: "
                    "does a topology serve this run?"
                )
                raise FeedError(msg)
            if now_s - self._reported_s > _REPORT_S:
                self._tell(phase, answered, 0.0)
            time.sleep(_POLL_S)

    def _tell(self, phase: str, answered: int, lag_ms: float) -> None:
        self._reported_s = time.monotonic()
        self._report(FeedProgress(phase, self._fed, self._total, answered, lag_ms))

    def _answered(self) -> int:
        newest = cast("list[tuple[str, dict[str, str]]]", self._redis.xrevrange(self._run.results, count=1))
        return int(newest[0][1].get("n", 0)) if newest else 0

    def _unread(self) -> int:
        """Return the rows that the topology's source has not read or done; all, before it has a group."""
        try:
            groups = self._redis.xinfo_groups(self._run.rows)
        except ResponseError:
            return self._fed  # no stream yet
        # pending: rows that were read but are not done, which Redis remembers only with replay
        lags = [int(group["lag"]) + int(group["pending"]) for group in groups if group.get("lag") is not None]
        return max(lags) if lags else self._fed
