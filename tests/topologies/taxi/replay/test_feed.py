"""Feeding never runs far ahead and never hangs: fast rows first, then, when they are done, paced ones."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from topologies.taxi.feed import FeedPlan, feed_file
from topologies.taxi.replay.errors import FeedError
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topologies.taxi.replay.outcome import Progress


@pytest.mark.parametrize(
    ("plan", "lines", "split"),
    [
        (FeedPlan(), 100, (100, 0)),
        (FeedPlan(fast_rows=30), 100, (30, 0)),
        (FeedPlan(rate_per_s=10.0), 100, (0, 100)),
        (FeedPlan(fast_rows=30, rate_per_s=10.0), 100, (30, 70)),
        (FeedPlan(fast_rows=30, rate_per_s=10.0, paced_rows=5), 100, (30, 5)),
        (FeedPlan(fast_rows=98, rate_per_s=10.0, paced_rows=5), 100, (98, 2)),
        (FeedPlan(fast_rows=300), 100, (100, 0)),
    ],
)
def test_a_plan_splits_the_file(plan: FeedPlan, lines: int, split: tuple[int, int]) -> None:
    """Fast rows first, then paced rows, never more than there are."""
    assert plan.split(lines) == split


def test_fast_rows_wait_for_results(side: Any, write_rows: Callable[..., Path]) -> None:
    """Without any result no more than `ahead` rows enter Redis; what is released lets more in."""
    path = write_rows(2_000)
    waiting = threading.Semaphore(0)

    def report(progress: Progress) -> None:
        if progress.fed >= progress.released + 500:
            waiting.release()

    arguments = (side.client(), side.run, path, FeedPlan(ahead=500))
    thread = threading.Thread(target=feed_file, args=arguments, kwargs={"report": report})
    thread.start()
    for released in (0, 500, 1_000):
        assert waiting.acquire(timeout=20.0)
        assert len(side.rows()) <= released + 500
        side.release(released + 500)
    side.release(2_000)
    thread.join()
    assert side.rows() == path.read_bytes().splitlines()
    assert side.entries()[-1] == {"n": 2_001, "end": b"1"}
    assert [len(entry["lines"]) for entry in side.entries()[:-1]] == [500, 500, 500, 500]


@pytest.mark.usefixtures("topology")
def test_feeding_a_run_twice_is_refused(side: Any, write_rows: Callable[..., Path]) -> None:
    """Rows of two passes are never mixed."""
    feed_file(side.client(), side.run, write_rows(3), FeedPlan(), report=lambda _: None)
    with pytest.raises(FeedError, match="run r1 has rows already"):
        feed_file(side.client(), side.run, write_rows(3), FeedPlan(), report=lambda _: None)
    assert len(side.rows()) == 3


def test_feeding_without_a_topology_ends_with_a_reason(side: Any, write_rows: Callable[..., Path]) -> None:
    """Rows that no topology reads are an error after the timeout, not an endless wait."""
    plan = FeedPlan(ahead=300, stall_timeout_s=0.1)
    with pytest.raises(FeedError, match=r"no progress for 0\.1 s: of 300 rows in Redis 0 are released"):
        feed_file(side.client(), side.run, write_rows(1_000), plan, report=lambda _: None)


def test_paced_rows_come_when_the_fast_ones_are_done(
    side: Any, write_rows: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every served query; the first is announced when it is there."""
    monkeypatch.setattr("topologies.taxi.replay.replayer._REPORT_S", 0.0)
    path = write_rows(300)
    seen: list[tuple[str, int, int]] = []

    def report(progress: Progress) -> None:
        rows = len(side.rows())
        seen.append((progress.phase, progress.fed, rows))
        if progress.phase == "draining":
            assert rows == 250
            side.release(250, "1" if len(seen) > 4 else "2")

    side.release(0, "1")
    side.release(0, "2")
    # slow enough that the machine is not behind when the next row is due
    plan = FeedPlan(fast_rows=250, rate_per_s=100.0, paced_rows=5)
    assert feed_file(side.client(), side.run, path, plan, report=report).fed == 255
    phases = [phase for phase, _, _ in seen]
    assert phases.index("draining") < phases.index("paced")
    assert next(each for each in seen if each[0] == "paced")[1:] == (251, 251)
    assert side.rows() == path.read_bytes().splitlines()[:255]
    assert side.ended()
    feed = side.feed()
    assert (feed["fast_rows"], feed["paced_rows"], feed["rate_per_s"], feed["rows"]) == (
        "250",
        "5",
        "100.0",
        "255",
    )


def test_paced_rows_are_announced_at_once(side: Any, write_rows: Callable[..., Path]) -> None:
    """With the first of them, however lately something was reported."""
    seen: list[Progress] = []
    side.release(250)
    plan = FeedPlan(fast_rows=250, rate_per_s=1e6, paced_rows=3)
    feed_file(side.client(), side.run, write_rows(300), plan, report=seen.append)
    assert [progress.phase for progress in seen[:2]] == ["fast", "paced"]


def test_rows_that_come_together_share_an_entry(side: Any, write_rows: Callable[..., Path]) -> None:
    """As many as are said, and the last of them what is left."""
    # slow enough that the machine is not behind when the next rows are due
    plan = FeedPlan(rate_per_s=1000.0, together=100)
    feed_file(side.client(), side.run, write_rows(250), plan, report=lambda _: None)
    assert [len(entry["lines"]) for entry in side.entries()[:-1]] == [100, 100, 50]


def test_rows_that_are_late_share_an_entry(side: Any, write_rows: Callable[..., Path]) -> None:
    """A feeder that is behind catches up with few writes, none of more than 1,000 rows."""
    path = write_rows(3_000)
    plan = FeedPlan(rate_per_s=1e9)
    feed_file(side.client(), side.run, path, plan, report=lambda _: None)
    sizes = [len(entry["lines"]) for entry in side.entries()[:-1]]
    assert max(sizes) == 1_000
    assert side.rows() == path.read_bytes().splitlines()


def test_a_bad_file_feeds_nothing(side: Any, tmp_path: Path) -> None:
    """It is read to its end before the first row goes."""
    path = tmp_path / "bad.csv"
    path.write_text("a,b,c\n" * 30)
    with pytest.raises(
        RowsError, match=r"bad\.csv, line 1 has 3 columns, not 17, and none of the first 30 lines"
    ):
        feed_file(side.client(), side.run, path, FeedPlan(), report=lambda _: None)
    assert side.entries() == []
