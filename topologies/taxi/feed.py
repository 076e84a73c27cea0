"""Feeds a run in two phases: rows as fast as they are consumed, then, when they are done, rows at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topologies.taxi.replay.open_source import open_source
from topologies.taxi.replay.pace import Limits, Phase, Rate
from topologies.taxi.replay.replayer import Replayer
from topologies.taxi.replay.stream import RunStream
from topologies.taxi.rows import count_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redis import Redis

    from topologies.taxi.keys import Run
    from topologies.taxi.replay.outcome import Outcome, Progress


@dataclass(frozen=True, slots=True)
class FeedPlan:
    """How to feed a source.

    Attributes:
        fast_rows: Rows fed as fast as they are consumed; None: all, or none when a rate is given.
        rate_per_s: Rows per second after that; None: no paced rows.
        paced_rows: Rows at that rate; None: the rest of the source.
        ahead: Most fast rows in Redis beyond the last released one.
        stall_timeout_s: Longest time without any progress, seconds.
        together: How many paced rows are due at once.
    """

    fast_rows: int | None = None
    rate_per_s: float | None = None
    paced_rows: int | None = None
    ahead: int = 20_000
    stall_timeout_s: float = 120.0
    together: int = 1

    def split(self, lines: int) -> tuple[int, int]:
        """Return how many rows are fast and how many paced, of a source of so many lines."""
        if self.rate_per_s is None:
            return min(lines, lines if self.fast_rows is None else self.fast_rows), 0
        fast = min(lines, self.fast_rows or 0)
        rest = lines - fast
        return fast, rest if self.paced_rows is None else min(rest, self.paced_rows)


def feed_file(
    redis: Redis,
    run: Run,
    path: Path,
    plan: FeedPlan,
    *,
    report: Callable[[Progress], None],
    stopped: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Feed a source and its end.

    Args:
        redis: Client near Redis.
        run: The run; it must have no rows yet.
        path: A file of lines, or the folder of a trips table.
        plan: How to feed.
        report: Called now and then with the progress.
        stopped: Whether the user has asked for the end.

    Raises:
        RowsError: The source cannot be read (nothing is fed then).
        FeedError: The run has rows already, or the topology makes no progress.
    """
    stream = RunStream(redis, run)
    source = open_source(path)
    fast, paced = plan.split(count_lines(path) if source.rows is None else source.rows)
    rate = plan.rate_per_s or 0.0
    phases = [Phase(None, fast)]
    if paced:
        # held rows would show a slow topology as a slow source
        phases.append(Phase(Rate(rate, plan.together), paced, held=False, drained=True))
    fields = {"fast_rows": fast, "paced_rows": paced, "rate_per_s": rate, "rows": fast + paced}
    return Replayer(
        source,
        stream,
        phases,
        Limits(plan.ahead, plan.stall_timeout_s),
        fields={name: str(value) for name, value in fields.items()},
        report=report,
        stopped=stopped,
    ).run()
