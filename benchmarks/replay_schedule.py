"""How well replay holds its schedule, and how fast it feeds when nothing holds it back.

    python -m benchmarks.replay_schedule [--file FILE] [--speed 100] [--days 10]

Starts a Redis of its own on loopback. Replays the file at the speed by its drop-off times, with a consumer
that releases every row as soon as it is there, and takes each row's lag from Redis: time of its entry minus
the time at which it was due. Then replays the full-rate rows of several days as fast as it goes, with that
consumer and with nothing that holds them back.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from experiments.machine import PROJECT, provenance
from topologies.taxi.keys import Run
from topologies.taxi.replay.check import Checker
from topologies.taxi.replay.pace import Speed
from topologies.taxi.rows import LinesFile

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL_RATE = PROJECT / "data" / "debs2015" / "nyc2013_fullrate_17col_46450.csv.gz"
_READY = Retry(ConstantBackoff(0.05), 200, (RedisConnectionError, BusyLoadingError))


@dataclass(frozen=True)
class Schedule:
    """What a replay by drop-off times came to.

    Attributes:
        rows: Rows in Redis.
        due_s: From the first row's due time to the last one's.
        took_s: From the first row's entry to the last one's.
        lag_ms: Per row the time of its entry minus its due time; Redis' clock counts whole milliseconds.
    """

    rows: int
    due_s: float
    took_s: float
    lag_ms: list[float]


@contextmanager
def redis_server() -> Iterator[int]:
    """Run a Redis that keeps nothing; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            Redis(port=port, retry=_READY).ping()
            yield port
        finally:
            process.terminate()
            process.wait()


def consume(port: int, run: Run) -> None:
    """Release every row as soon as it is there, until the end."""
    client = Redis(port=port)
    at = "0"
    while True:
        answer: Any = client.xread({run.rows: at}, count=20, block=1_000)
        for _, entries in answer or []:
            at, fields = entries[-1]
            if b"end" in fields:
                return
            client.hset(run.progress, "released:1", int(fields[b"n"]) + fields[b"lines"].count(b"\n"))


@contextmanager
def consumer(port: int, run: Run) -> Iterator[None]:
    """Have a run's rows consumed."""
    process = multiprocessing.get_context("spawn").Process(target=consume, args=(port, run))
    process.start()
    try:
        yield
    finally:
        process.join()


def replay(port: int, file: Path, run: Run, *options: str) -> float:
    """Run the command; returns the rows per second that it prints."""
    command = [sys.executable, "-m", "cli.main", "taxi", "replay", str(file), "--redis", f"127.0.0.1:{port}"]
    done = subprocess.run(
        [*command, "--run", run.id, *options], check=True, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout.strip())
    return float(done.stdout.partition(" rows/s")[0].rpartition("(")[2])


def measure(port: int, file: Path, speed: float) -> Schedule:
    """Replay a file at a speed and compare the times of its entries with its schedule."""
    run = Run("schedule")
    with consumer(port, run):
        replay(port, file, run, "--speed", str(speed))
    client = Redis(port=port)
    start_ms = float(client.hget(run.feed, "schedule_ms") or 0)
    checker, pace = Checker(), Speed(speed)
    due_ms = [
        start_ms + 1_000.0 * pace.offset_s(n, checker.look(line))
        for n, line in enumerate(LinesFile(file).lines(), start=1)
    ]
    there_ms: list[float] = []
    entries: Any = client.xrange(run.rows)
    for entry_id, fields in entries[:-1]:
        there_ms += [float(entry_id.partition(b"-")[0])] * (fields[b"lines"].count(b"\n") + 1)
    lag_ms = [there - due for there, due in zip(there_ms, due_ms, strict=True)]
    return Schedule(
        len(lag_ms), (due_ms[-1] - due_ms[0]) / 1_000.0, (there_ms[-1] - there_ms[0]) / 1_000.0, lag_ms
    )


def fast(port: int, days: int) -> tuple[float, float]:
    """Return the rows per second of the full-rate rows, once for each of so many days, as fast as it goes.

    First with a consumer, which takes its part of the machine, then with all rows released beforehand.
    """
    rows = gzip.decompress(FULL_RATE.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv.gz"
        with gzip.open(path, "wb", compresslevel=6) as target:
            for day in range(1, days + 1):
                target.write(rows.replace(b",2013-01-01 ", b",2013-01-%02d " % day))
        run = Run("consumed")
        with consumer(port, run):
            consumed = replay(port, path, run, "--fast")
        run = Run("free")
        Redis(port=port).hset(run.progress, "released:1", 10**12)
        return consumed, replay(port, path, run, "--fast")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=FULL_RATE)
    parser.add_argument("--speed", type=float, default=100.0)
    parser.add_argument("--days", type=int, default=10, help="at most 31")
    options = parser.parse_args()
    print(provenance().line())
    with redis_server() as port:
        begun_s = time.monotonic()
        schedule = measure(port, options.file, options.speed)
        off = schedule.took_s / schedule.due_s - 1.0
        mean, p50, p99 = np.mean(schedule.lag_ms), *np.percentile(schedule.lag_ms, [50, 99])
        print(
            f"x{options.speed:g}: {schedule.rows} rows in {schedule.took_s:.2f} s, "
            f"due in {schedule.due_s:.2f} s ({off:+.2%}); "
            f"lag {mean:.1f} ms mean, {p50:.1f} ms median, {p99:.1f} ms p99, "
            f"{max(schedule.lag_ms):.1f} ms at most; {time.monotonic() - begun_s:.0f} s with start and check"
        )
        consumed, free = fast(port, options.days)
        print(f"fast: {consumed:,.0f} rows/s with a consumer, {free:,.0f} rows/s with nothing to wait for")


if __name__ == "__main__":
    main()
