"""How fast trips tables are made: rows per second of generate, and of ingest and clean together.

    python -m benchmarks.trips [--days 4] [--rows-per-day 510000] [--cores 2] [--repeats 3] [--scratch DIR]

Fixed work: the same seed makes the same rows, by default about 2 million. `generate` writes a trips table;
its rows then lie as plain CSV of 17 columns, which `ingest` takes in and `clean` cleans. Times begin when the
session is up and its Python workers have run once. Beside the time stands all processes' processor time,
the steadier figure on a shared machine. The best repeat is reported. Ends with status 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from experiments.machine import provenance
from replay.session import spark_session
from replay.trips.clean import clean
from replay.trips.generate import generate
from replay.trips.ingest import ingest
from replay.trips.settings import Settings
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

FIRST_DAY = 15_719
"""Monday, 14 January 2013."""
SEED = 1
TARGETS = {"generate": 200_000, "ingest + clean": 150_000}
"""Rows per second on two cores."""


@dataclass(frozen=True)
class Measured:
    """One piece of work.

    Attributes:
        work: Its name.
        rows: How many rows it took in or made.
        elapsed_s: Seconds.
        processor_s: Seconds of all processes together.
        load: Mean number of runnable processes of the machine over the last minute, at the end.
    """

    work: str
    rows: int
    elapsed_s: float
    processor_s: float
    load: float

    @property
    def rows_per_s(self) -> float:
        """Rows per second of time."""
        return self.rows / self.elapsed_s

    @property
    def rows_per_processor_s(self) -> float:
        """Rows per second of processor time."""
        return self.rows / self.processor_s


def main() -> None:
    """Measure, print, and store if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--rows-per-day", type=int, default=510_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scratch", type=Path, help="folder for some 2 GB; by default a temporary one")
    parser.add_argument("--out", type=Path, help="file for the figures as JSON")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="stormplace-trips-", dir=arguments.scratch))
    try:
        with spark_session(f"local[{arguments.cores}]") as session:
            run_tasks(session, str, range(2 * arguments.cores))
            settings = Settings(SEED, arguments.rows_per_day)
            days = range(FIRST_DAY, FIRST_DAY + arguments.days)
            found = measure(session, settings, days, folder, arguments.repeats)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    origin = provenance()
    sys.stdout.write(f"{origin.line()}; local[{arguments.cores}]\n")
    for one in found:
        target = TARGETS.get(one.work)
        sys.stdout.write(
            f"{one.work:>14}: {one.rows:,} rows in {one.elapsed_s:.2f} s: {one.rows_per_s:,.0f} rows/s"
            f"{f' (target {target:,})' if target else ''}; processors {one.processor_s:.2f} s: "
            f"{one.rows_per_processor_s:,.0f} rows/s per core; load {one.load:.1f}\n"
        )
    if arguments.out is not None:
        document = {"cores": arguments.cores, **asdict(origin), "measured": [asdict(one) for one in found]}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    missed = [one.work for one in found if one.rows_per_s < TARGETS.get(one.work, 0)]
    if missed:
        raise SystemExit(f"targets missed: {', '.join(missed)}")


def measure(
    session: SparkSession, settings: Settings, days: range, folder: Path, repeats: int
) -> list[Measured]:
    """Return the best repeat of each piece of work."""
    made, rows_csv, taken, cleaned = (folder / name for name in ("made", "rows.csv", "taken", "cleaned"))
    rows = sum(generate(session, settings, days, made, _quiet, as_csv=True).values())
    with rows_csv.open("wb") as plain:
        for packed in sorted((made / "csv").iterdir()):
            with gzip.open(packed) as stream:
                shutil.copyfileobj(stream, plain, 1 << 22)

    def both() -> None:
        ingest(session, [rows_csv], taken, _quiet)
        clean(session, taken, cleaned, _quiet)

    works: dict[str, Callable[[], object]] = {
        "generate": lambda: generate(session, settings, days, made, _quiet),
        "ingest": lambda: ingest(session, [rows_csv], taken, _quiet),
        "clean": lambda: clean(session, taken, cleaned, _quiet),
        "ingest + clean": both,
    }
    return [
        min((_timed(name, rows, work) for _ in range(repeats)), key=lambda one: one.elapsed_s)
        for name, work in works.items()
    ]


def _timed(name: str, rows: int, work: Callable[[], object]) -> Measured:
    processor, begin = _processor_s(), time.perf_counter()
    work()
    elapsed = time.perf_counter() - begin
    return Measured(name, rows, elapsed, _processor_s() - processor, os.getloadavg()[0])


def _processor_s() -> float:
    """Return the processor time of this process and all that it has started and are still there."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _quiet(_: str) -> None:
    """Say nothing while the clock runs."""


if __name__ == "__main__":
    main()
