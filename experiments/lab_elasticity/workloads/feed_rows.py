"""Feeds taxi rows when they are due and collects what comes; a program that runs on the lab's Redis host.

Items are rows that count, in the order in which they are due: a row that the query turns away has no result.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from redis import Redis

from experiments.lab_elasticity.workloads.taxi_query import FED, PROBES
from experiments.lab_elasticity.workloads.workload import BEGINS
from formats.address import Address
from topologies.taxi.keys import Run
from topologies.taxi.replay.open_source import open_source
from topologies.taxi.replay.pace import Limits, Phase
from topologies.taxi.replay.replayer import Replayer
from topologies.taxi.replay.stream import RunStream
from topologies.taxi.taxi_collector import TaxiCollector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.replay.check import Row
    from topologies.taxi.replay.outcome import Progress

OPEN_WITHIN_S = 180.0
SILENCE_S = 60.0
"""Longest time without a new result at the end."""
_AHEAD = 20_000
_SAY_EVERY_S = 10.0


class Moments:
    """Rows are due at moments of their own; a pace as of `topologies.taxi.replay`.

    Args:
        due_s: When each row is due, s, the first one first.
    """

    def __init__(self, due_s: Sequence[float]) -> None:
        self._due_s = due_s
        self._first: int | None = None

    def offset_s(self, number: int, _row: Row) -> float:
        """Return the seconds from the first row to this one."""
        if self._first is None:
            self._first = number
        return self._due_s[number - self._first] - self._due_s[0]


def items(
    due_s: Sequence[float], schedule_ms: int, results: Iterable[tuple[int, int]], *, complete: bool
) -> dict[str, object]:
    """Return what was due and what came, as the experiment keeps it.

    Args:
        due_s: When rows were due, s since the start of what is measured.
        schedule_ms: When the first of them was due, unix milliseconds.
        results: Row, from 1 with the probes, and moment of its result, unix milliseconds.
        complete: Whether all rows are worked off: those without a result do not count then.
    """
    came = {n - PROBES - 1: at_ms for n, at_ms in results if n > PROBES}
    start_us = schedule_ms * 1000 - round(due_s[0] * 1e6)
    kept = sorted(came) if complete else range(len(due_s))
    return {
        "start_us": start_us,
        "due_us": [start_us + round(due_s[k] * 1e6) for k in kept],
        "arrived": [(number, came[k] * 1000) for number, k in enumerate(kept) if k in came],
    }


def _feed(redis: Redis, run: Run, rows: Path, due_s: Sequence[float]) -> None:
    """Feed the probes, wait until they are worked off, and then each row when it is due."""
    said_s = 0.0

    def report(progress: Progress) -> None:
        nonlocal said_s
        if progress.phase != "paced":
            return
        if said_s == 0.0:
            print(f"{BEGINS} at {time.time():.3f}", flush=True)
        if time.monotonic() - said_s >= _SAY_EVERY_S:
            said_s = time.monotonic()
            print(f"{progress.fed} of {len(due_s)} rows, {progress.fed - progress.released} wait", flush=True)

    phases = (
        Phase(None, PROBES),
        # what is held back would show a slow topology as a slow source
        Phase(Moments(due_s), len(due_s), held=False, drained=True),
    )
    fields = {"fast_rows": str(PROBES), "paced_rows": str(len(due_s)), "rate_per_s": "0"}
    fields["rows"] = str(PROBES + len(due_s))
    limits = Limits(_AHEAD, OPEN_WITHIN_S)
    Replayer(open_source(rows), RunStream(redis, run), phases, limits, fields=fields, report=report).run()


def main() -> None:
    """Feed as the arguments say, and write what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--rows", required=True, type=Path, help="rows of 17 columns")
    parser.add_argument("--due", required=True, type=Path, help="JSON: seconds since the start")
    parser.add_argument("--out", required=True, type=Path, help="JSON of what was due and what came")
    parser.add_argument("--answers", required=True, type=Path, help="folder of the query's answers")
    asked = parser.parse_args()
    address, run = Address.parse(asked.redis), Run(asked.run)
    redis = Redis(address.host, address.port, decode_responses=True)
    due_s: list[float] = json.loads(asked.due.read_text(encoding="utf-8"))
    asked.answers.mkdir(parents=True)
    fed = [*islice(open_source(asked.rows).lines(), PROBES + len(due_s))]
    (asked.answers / FED).write_bytes(b"".join(line + b"\n" for line in fed))
    _feed(redis, run, asked.answers / FED, due_s)
    [summary] = TaxiCollector(redis, run, SILENCE_S, lambda *_: None).collect(asked.answers)
    with (asked.answers / "results.csv").open(encoding="utf-8", newline="") as file:
        results = [(int(row["n"]), int(row["result_ms"])) for row in csv.DictReader(file)]
    schedule_ms = int(str(redis.hget(run.feed, "schedule_ms")))
    # only where nothing is missing is a row without a result one that the query turned away
    content = items(due_s, schedule_ms, results, complete=not summary.faults)
    asked.out.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print(f"{len(due_s)} rows fed, {summary.results} have results", flush=True)
    for fault in summary.faults:
        sys.stderr.write(f"{fault}\n")


if __name__ == "__main__":
    main()
