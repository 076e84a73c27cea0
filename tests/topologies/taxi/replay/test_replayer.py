"""No row is lost or doubled, whatever happens to the feeder, to Redis or to the source."""

from __future__ import annotations

import csv
import gzip
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.topologies.taxi.replay.replayers import after, replayer
from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.pace import Limits, Rate, Speed
from topologies.taxi.replay.rejects import RejectsFile
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topologies.taxi.replay.outcome import Outcome, Progress


class Crash(BaseException):
    """The feeder dies, as by SIGKILL: nothing handles it."""


class UnluckyRedis(Redis):
    """Loses connections before or after a script was run, and lets the feeder die there.

    Its `rng` is set after it was made; without one all goes well.
    """

    rng: random.Random | None = None
    crashes = False

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if self.rng is None or args[0] != "EVALSHA":
            return super().execute_command(*args, **options)
        kind = self.rng.randrange(8)
        if kind == 0:
            raise RedisConnectionError("lost before")
        answer = super().execute_command(*args, **options)
        if kind == 1:
            raise RedisConnectionError("lost after")
        if kind == 2 and self.crashes:
            raise Crash
        return answer


def messy_file(line: Callable[[int, int], str], path: Path) -> Path:
    lines = [line(n, n // 3).encode() for n in range(1, 3_001)]
    for index in range(5, 3_000, 101):
        lines[index] = [b"\xff" + lines[index], b"", lines[index - 1], b"1,2,3"][index % 4]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


@pytest.mark.parametrize("seed", range(6))
def test_outages_and_crashes_lose_and_double_nothing(
    side: Any, line: Callable[[int, int], str], tmp_path: Path, seed: int
) -> None:
    """Rows, counts and rejects are those of a run that went well, whenever the feeder died."""
    path = messy_file(line, tmp_path / "rows.csv")
    kept = tmp_path / "rejects.csv"
    rng = random.Random(seed)
    address = side.server.address
    outcome: Outcome | None = None
    deaths = 0
    side.release(1_000_000)
    while outcome is None:
        client = UnluckyRedis(host=address.host, port=address.port, retry=None)
        unlucky = replayer(side, path, limits=Limits(70), client=client, rejects=RejectsFile(kept))
        # beginnings are not insisted on: bad luck comes with the first row
        client.crashes = deaths < 5

        def strike(*_: Any, client: UnluckyRedis = client) -> None:
            client.rng = rng

        unlucky._feed_all = after(strike, unlucky._feed_all)  # type: ignore[method-assign]
        try:
            outcome = unlucky.run(resume=bool(side.entries()) or deaths > 0)
        except Crash:
            deaths += 1
    assert deaths
    lines = path.read_bytes().splitlines()
    assert side.rows() == lines
    assert side.ended()
    with kept.open(newline="", encoding="utf-8") as file:
        rejects = [(int(row["line"]), row["reason"]) for row in csv.DictReader(file)]
    reasons = {0: "encoding", 1: "columns", 3: "columns"}
    expected = [(i + 1, reasons[i % 4]) for i in range(5, 3_000, 101) if i % 4 != 2]
    assert rejects == expected
    assert outcome.rejected == {
        reason: sum(1 for _, each in expected if each == reason) for reason in ("columns", "encoding")
    }
    feed = side.feed()
    assert {
        name.removeprefix("rejected:"): int(feed[name]) for name in feed if ":" in name
    } == outcome.rejected
    assert int(feed["fast_rows"]) == int(feed["rows"]) == 3_000
    assert int(feed.get("duplicate", 0)) + int(feed.get("goes_back", 0)) > 0


def test_a_pause_ends_after_the_rows_in_hand_and_is_gone_on_from(
    side: Any, write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    """The schedule begins anew with the next row."""
    path = write_rows(400)
    asked = threading.Event()

    def report(_: Progress) -> None:
        asked.set()

    outcome = replayer(side, path, Speed(1.0), report=report, stopped=asked.is_set).run()
    assert not outcome.ended
    assert outcome.fed == len(side.rows()) < 400
    first_ms = int(side.feed()["schedule_ms"])
    outcome = replayer(side, path, Speed(1e6), rejects=RejectsFile(tmp_path / "r.csv")).run(resume=True)
    assert (outcome.ended, outcome.begun_at + outcome.paced, outcome.fed) == (True, 400, 400)
    assert side.rows() == path.read_bytes().splitlines()
    feed = side.feed()
    assert int(feed["schedule_row"]) == outcome.begun_at + 1
    assert int(feed["schedule_ms"]) >= first_ms
    assert (feed["fast_rows"], feed["paced_rows"]) == ("0", "400")
    assert not (tmp_path / "r.csv").exists()
    again = replayer(side, path).run(resume=True)
    assert (again.ended, again.fed, again.begun_at) == (True, 400, 400)
    assert len(side.rows()) == 400


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.rename(path.with_name("b.csv")), "another name: rows.csv, and this one has b.csv"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x\n"), "with another size"),
        (lambda path: path.write_bytes(b"Z" + path.read_bytes()[1:]), "with another beginning"),
        (
            lambda path: path.write_bytes(path.read_bytes().replace(b"M200,", b"M299,")),
            "the 300 rows that were fed are not the first 300 rows of this source",
        ),
    ],
)
def test_another_source_is_not_gone_on_with(
    side: Any, write_rows: Callable[..., Path], change: Callable[[Path], Any], message: str
) -> None:
    """Its status is that of bad input, and the run stays as it is."""
    path = write_rows(400)
    with pytest.raises(FeedError, match="no progress"):
        replayer(side, path, limits=Limits(300, 0.05)).run()
    changed = change(path)
    with pytest.raises(FeedError, match=message) as caught:
        replayer(side, changed if hasattr(changed, "name") else path).run(resume=True)
    assert caught.value.status == 2
    assert len(side.rows()) == 300


def test_a_packed_file_that_breaks_off_can_be_mended(
    side: Any, line: Callable[[int, int], str], tmp_path: Path
) -> None:
    """What came before stays, the end is not written, and the rest comes from the mended file."""
    rng = random.Random(1)
    lines = [line(rng.randrange(10**9), n // 3).encode() for n in range(5_000)]
    whole = gzip.compress(b"\n".join(lines), mtime=0)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FeedError, match="is cut off after line") as caught:
        replayer(side, path).run()
    fed = len(side.rows())
    assert 1_000 < fed < 4_000
    assert f"after line {fed}: its gzip stream does not end; rows 1 to {fed} are fed" in str(caught.value)
    assert not side.ended()
    path.write_bytes(whole)
    assert replayer(side, path).run(resume=True).fed == 5_000
    assert side.rows() == lines
    assert side.ended()


def test_a_file_that_breaks_off_at_once_feeds_nothing(side: Any, tmp_path: Path) -> None:
    """It is refused as bad input."""
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"x" * 1_000)[:20])
    with pytest.raises(RowsError, match="is cut off after line 0"):
        replayer(side, path)
    assert side.entries() == []


def test_paced_rows_wait_for_the_results_too(
    side: Any, write_rows: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most `ahead` rows are in Redis beyond what is released, whatever is due."""
    monkeypatch.setattr("topologies.taxi.replay.replayer._REPORT_S", 0.0)
    path = write_rows(700)
    most = 0

    def report(progress: Progress) -> None:
        nonlocal most
        most = max(most, progress.fed - progress.released)
        side.release(progress.fed - 10)

    outcome = replayer(side, path, Rate(1e9), limits=Limits(100), report=report).run()
    assert outcome.ended
    assert side.rows() == path.read_bytes().splitlines()
    assert most == 100


def test_the_order_of_rows_is_known_after_a_pause(
    side: Any, line: Callable[[int, int], str], tmp_path: Path
) -> None:
    """A row that goes back, or is there twice, is reported also when it is the first to come."""
    lines = [line(n, 100) for n in range(250)] + [line(7, 100), line(300, 99), line(301, 101)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(FeedError, match="no progress"):
        replayer(side, path, limits=Limits(250, 0.05)).run()
    assert len(side.rows()) == 250
    assert replayer(side, path).run(resume=True).faults == {"duplicate": 1, "goes_back": 1}
