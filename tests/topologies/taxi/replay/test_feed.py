"""Feeding never runs far ahead and never hangs."""

from __future__ import annotations

import gzip
import threading
from typing import TYPE_CHECKING, Any

import pytest

from topologies.taxi.feed import Feeder, FeedError, FeedPlan, FeedProgress
from topologies.taxi.keys import Run
from topologies.taxi.rows import RowsError, count_lines, read_lines

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run("r1")
# without a time stamp: the name of a test is made of it, and has to be the same in every process
CUT_OFF = gzip.compress(b"line\n" * 10_000, mtime=0)[:-20]


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


def rows_of(path: Path, count: int) -> Path:
    path.write_text("".join(f"a,b,c,2013-01-01 00:00:0{n % 10},e\n" for n in range(1, count + 1)))
    return path


def test_fast_rows_wait_for_results(tmp_path: Path, redis_server: Any) -> None:
    """Without any result no more than `ahead` rows enter Redis; each result lets more in."""
    client = redis_server.client()
    client.xgroup_create(RUN.rows, "dataSource", "0", mkstream=True)
    waiting = threading.Semaphore(0)
    feeder = Feeder(client, RUN, FeedPlan(ahead=500), lambda _: waiting.release())
    thread = threading.Thread(target=feeder.feed, args=(rows_of(tmp_path / "rows.csv", 1_000),))
    thread.start()
    other = redis_server.client()
    for answered in (0, 250):
        assert waiting.acquire(timeout=20.0)
        assert other.xlen(RUN.rows) <= answered + 500
        other.xadd(RUN.results, {"n": answered + 250})
    thread.join()
    entries = other.xrange(RUN.rows)
    assert [int(fields["n"]) for _, fields in entries] == list(range(1, 1_002))
    assert entries[-1][1] == {"n": "1001", "end": "1"}


def test_feeding_a_run_twice_is_refused(tmp_path: Path, redis_server: Any) -> None:
    """Rows of two passes are never mixed."""
    client = redis_server.client()
    client.xadd(RUN.rows, {"n": 1})
    with pytest.raises(FeedError, match="run r1 has rows already"):
        Feeder(client, RUN, FeedPlan(), lambda _: None).feed(rows_of(tmp_path / "rows.csv", 3))
    assert client.xlen(RUN.rows) == 1


def test_feeding_without_a_topology_ends_with_a_reason(tmp_path: Path, redis_server: Any) -> None:
    """Rows that nobody reads are an error after the timeout, not an endless wait."""
    plan = FeedPlan(ahead=300, stall_timeout_s=0.1)
    with pytest.raises(FeedError, match=r"no progress for 0\.1 s, 250 rows wait to be read"):
        Feeder(redis_server.client(), RUN, plan, lambda _: None).feed(rows_of(tmp_path / "rows.csv", 1_000))


def test_paced_rows_report_their_lag(tmp_path: Path, redis_server: Any) -> None:
    """Progress tells phase, rows and how late the latest row was."""
    seen: list[FeedProgress] = []
    plan = FeedPlan(rate_per_s=500.0)
    redis_server.client().xgroup_create(RUN.rows, "dataSource", "0", mkstream=True)
    Feeder(redis_server.client(), RUN, plan, seen.append).feed(rows_of(tmp_path / "rows.csv", 50))
    assert {progress.phase for progress in seen} == {"paced"}
    assert seen[-1].total == 50
    assert redis_server.client().hgetall(RUN.feed) == {
        "fast_rows": "0",
        "paced_rows": "50",
        "rate_per_s": "500.0",
    }


def test_rows_that_are_read_but_not_done_hold_the_feeder(redis_server: Any) -> None:
    """With replay Redis knows them: quiet while executors move is not taken for the end of the work."""
    client = redis_server.client()
    client.xgroup_create(RUN.rows, "dataSource", "0", mkstream=True)
    client.xadd(RUN.rows, {"n": 1})
    client.xreadgroup("dataSource", "c", {RUN.rows: ">"})
    feeder = Feeder(client, RUN, FeedPlan(), lambda _: None)
    assert feeder._unread() == 1
    client.xack(RUN.rows, "dataSource", *[each for each, _ in client.xrange(RUN.rows)])
    assert feeder._unread() == 0


def test_rejected_rows_do_not_hold_the_feeder(tmp_path: Path, redis_server: Any) -> None:
    """When all was read and nothing more comes back, the topology is up to date."""
    client = redis_server.client()
    client.xgroup_create(RUN.rows, "dataSource", "0", mkstream=True)
    done = threading.Event()

    def read_all() -> None:
        reader = redis_server.client()
        while not done.is_set():
            reader.xreadgroup("dataSource", "c", {RUN.rows: ">"}, noack=True, block=50)

    thread = threading.Thread(target=read_all)
    thread.start()
    fed = Feeder(client, RUN, FeedPlan(ahead=250), lambda _: None).feed(rows_of(tmp_path / "rows.csv", 300))
    done.set()
    thread.join()
    assert fed == 300


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "none.csv cannot be read: No such file"),
        ("empty.csv", b"", "empty.csv holds no rows"),
        ("cut.csv.gz", CUT_OFF, "cut.csv.gz is cut off or no gzip file"),
        ("no.csv.gz", b"plain text", "no.csv.gz is cut off or no gzip file"),
        ("bytes.csv", b"good\n\xff\xfe\n", "bytes.csv, line 2: no UTF-8"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    """Name and line, in one sentence."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RowsError, match=message):
        count_lines(path)


def test_plain_and_packed_files_read_alike(tmp_path: Path) -> None:
    """Line ends are taken off, the content is the same."""
    (tmp_path / "a.csv").write_bytes(b"x,1\r\ny,2\n")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,1\r\ny,2\n"))
    assert list(read_lines(tmp_path / "a.csv")) == list(read_lines(tmp_path / "a.csv.gz")) == ["x,1", "y,2"]
