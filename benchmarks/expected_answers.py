"""How long the expected answers of both queries take, with how much memory, and how that grows with the rows.

    python -m benchmarks.expected_answers [--rows 2000000 20000000] [--tables DIR] [--master local[2]]

Makes up a trips table of each size, at half a million rows a day, unless DIR holds it already. Each size is
answered by a process of its own. The clock starts when its session is up and ends when the folder of answers
is written. Memory is the sum of the resident sets of the JVM, the driver and all Python workers, looked at
twice a second; pages that workers share count for each. Ends with status 1 if 2 million rows take more than
60 s or 3 GB, or a larger table takes more than in proportion and a tenth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import psutil

from experiments.machine import provenance
from replay.expected.compute import write_expected
from replay.expected.input_kind import input_bytes
from replay.session import jvm_options, spark_session
from replay.trips.generate import generate
from replay.trips.settings import Settings

ROWS_PER_DAY = 500_000
SEED = 1
FIRST_DAY = (date(2013, 6, 3) - date(1970, 1, 1)).days
TARGET_ROWS = 2_000_000
TARGET_S = 60.0
TARGET_BYTES = 3e9
TARGET_GROWTH = 1.1
LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Measured:
    """One table's answers.

    Attributes:
        rows: Rows of the table.
        seconds: From the session being up to the answers being written.
        peak_bytes: Memory of all processes.
        cpu_s: Processor time of all processes, the session's start included.
    """

    rows: int
    seconds: float
    peak_bytes: int
    cpu_s: float


def make_tables(sizes: list[int], folder: Path) -> dict[int, Path]:
    """Make up the tables that are not there yet; return the folder of each size."""
    tables = {rows: folder / f"trips-{rows}" for rows in sizes}
    missing = {rows: table for rows, table in tables.items() if not table.is_dir()}
    if missing:
        with spark_session(java_options="") as spark:
            for rows, table in missing.items():
                days = range(FIRST_DAY, FIRST_DAY + max(1, round(rows / ROWS_PER_DAY)))
                generate(spark, Settings(SEED, rows / len(days)), days, table, _say)
    return tables


def measure(table: Path, master: str) -> Measured:
    """Answer both queries for a table in a process of its own."""
    module = [sys.executable, "-m", "benchmarks.expected_answers"]
    command = [*module, "--answer", str(table), "--master", master]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak_bytes, cpu_s = _watch(psutil.Process(process.pid))
        output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(process.returncode)
    found = json.loads(output.splitlines()[-1])
    return Measured(found["rows"], found["seconds"], peak_bytes, cpu_s)


def _watch(process: psutil.Process) -> tuple[int, float]:
    """Look at a process and its descendants until it ends; its output must fit a pipe's buffer (64 KiB).

    Returns:
        The greatest sum of resident sets at one look, in bytes, and the processor time of all processes
        seen, up to the last look at each, in seconds.
    """
    peak = 0
    cpu: dict[int, float] = {}
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        total = 0
        for each in _family(process):
            try:
                with each.oneshot():
                    total += each.memory_info().rss
                    times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            cpu[each.pid] = times.user + times.system
        peak = max(peak, total)
        time.sleep(LOOK_EVERY_S)
    return peak, sum(cpu.values())


def _family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def answer(table: Path, master: str) -> None:
    """Answer both queries and print rows and seconds as JSON."""
    options = jvm_options(input_bytes(table))
    with spark_session(master, java_options=options) as spark, tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        summaries = write_expected(spark, table, Path(scratch) / "answers", _say, queries=(1, 2))
        seconds = time.monotonic() - began
    sys.stdout.write(json.dumps({"rows": summaries[1].rows, "seconds": round(seconds, 1)}) + "\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def reached(runs: list[Measured]) -> bool:
    """Return whether the targets are met by those runs that they speak of."""
    first = runs[0]
    small = [run for run in runs if run.rows <= 1.1 * TARGET_ROWS]
    quick = all(run.seconds <= TARGET_S and run.peak_bytes <= TARGET_BYTES for run in small)
    return quick and all(run.seconds / first.seconds <= TARGET_GROWTH * run.rows / first.rows for run in runs)


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--tables", type=Path, help="folder of the tables (default: a temporary one)")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer is not None:
        answer(options.answer, options.master)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        tables = make_tables(sorted(options.rows), options.tables or Path(scratch))
        runs = [measure(table, options.master) for table in tables.values()]
    for run in runs:
        sys.stdout.write(
            f"{run.rows:,} rows: {run.seconds:.1f} s, {run.seconds / run.rows * 1e6:.1f} us per row, "
            f"{run.peak_bytes / 1e9:.2f} GB, {run.cpu_s:.0f} s of processor time; "
            f"{run.seconds / runs[0].seconds:.1f} times the first\n"
        )
    here = provenance()
    sys.stdout.write(f"{here.line()}\n")
    sys.stdout.write(json.dumps({"runs": [asdict(run) for run in runs], **asdict(here)}) + "\n")
    return 0 if reached(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
