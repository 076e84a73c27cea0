"""Rows per second that the taxi queries take on a real Storm, end to end, and what batching costs when idle.

    python -m benchmarks.taxi_throughput ROWS [--query 1|2|both] [--tasks N] [--workers N] [--idle-rows N]

ROWS is a file of 17 columns or a trips table. Brings up a lab of one site, submits the query, replays the
rows as fast as they are consumed, collects, compares with the expected answers and prints a JSON object. The
time is from the first row's being in Redis to the last result's being there. With --idle-rows the query is
submitted once more and gets so many rows at 10 rows/s. --out keeps the files.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from benchmarks.lab_commands import NIMBUS, PATIENCE_S, REDIS, STORMPLACE, begin, finish, run, running_lab
from experiments.machine import provenance
from lab.control import keeper_pid
from replay.compare.compare import compare_queries
from replay.csv_table import read_whole_numbers
from replay.expected.compute import write_expected
from replay.session import spark_session
from replay.stream_files import RESULT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster import LabClient

SITES = """
executors_per_host = 32
[[site]]
name = "one"
supervisors = 2
slots = 4
services = true
"""
# the lab's workers are made small, and quick to start, for many of them on one machine: this is one for load
CONF = {
    "topology.worker.childopts": "-Xmx768m -XX:TieredStopAtLevel=4",
    "topology.stats.sample.rate": 0.05,
    "taxi.ahead": 60_000,
}
NAME = "taxi"
SETTLED_S = 5.0
IDLE_RATE = 10.0
QUERIES = {"1": ("",), "2": ("query2",), "both": ("", "query2")}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path)
    parser.add_argument("--query", choices=list(QUERIES), default="1")
    parser.add_argument("--tasks", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--idle-rows", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="keep the run's folder here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out if options.out is not None else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print(json.dumps(measured(options, folder.resolve()), indent=2))


def measured(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run the query in a lab and return its figures."""
    sites = folder / "sites.toml"
    sites.write_text(SITES, encoding="utf-8")
    conf = folder / "conf.json"
    conf.write_text(json.dumps(CONF), encoding="utf-8")
    with running_lab(sites, "stormplace", folder) as lab:
        submit(lab, options, "fast", conf)
        feed(lab, folder, "fast", "replay", str(options.rows.resolve()), "--fast", "--ahead=120000")
        busy = cpu_seconds(lab)
        if options.idle_rows:
            run(lab, *STORMPLACE, "taxi", "kill", NIMBUS, f"--name={NAME}")
            submit(lab, options, "idle", conf)
            paced = ("--fast-rows=0", f"--rate={IDLE_RATE}", f"--paced-rows={options.idle_rows}")
            feed(lab, folder, "idle", "feed", str(options.rows.resolve()), *paced)
    figures: dict[str, object] = {"provenance": provenance().line(), "query": options.query}
    figures |= {"tasks": options.tasks, "workers": options.workers}
    for part in QUERIES[options.query]:
        results = folder / "fast" / part / "results.csv"
        figures[f"fast {part or 'query1'}"] = speed(results)
        if options.idle_rows:
            figures[f"idle {part or 'query1'}"] = delays(folder / "idle" / part / "results.csv")
    figures["cpu seconds by program"] = busy
    figures["answers"] = verdicts(options, folder)
    return figures


def submit(lab: LabClient, options: argparse.Namespace, label: str, conf: Path) -> None:
    """Submit the queries and wait until all their processes are there: their start is not measured."""
    arguments = (f"--query={options.query}", f"--tasks={options.tasks}", f"--workers={options.workers}")
    run(
        lab,
        *(*STORMPLACE, "taxi", "submit", NIMBUS, REDIS, f"--run={label}", f"--name={NAME}"),
        *(*arguments, f"--conf={conf}"),
    )
    end_s = time.monotonic() + PATIENCE_S
    known, since_s = 0, time.monotonic()
    while not known or time.monotonic() - since_s < SETTLED_S:
        found = sum(name.startswith("topologies.") for _, name in processes(lab))
        if found != known:
            known, since_s = found, time.monotonic()
        if time.monotonic() > end_s:
            raise SystemExit("the query does not start")
        time.sleep(0.5)


def feed(lab: LabClient, folder: Path, label: str, *command: str) -> None:
    """Feed rows and collect what comes of them, at the same time."""
    address = (REDIS, f"--run={label}")
    feeding = begin(lab, *STORMPLACE, "taxi", *command, *address, host="redis")
    run(lab, *STORMPLACE, "taxi", "collect", *address, f"--out={folder / label}", host="redis")
    finish(feeding, "taxi", *command)


def speed(results: Path) -> dict[str, float]:
    """Rows per second from the first row in Redis to the last result there."""
    rows = read_whole_numbers(results, RESULT_COLUMNS)
    count, seconds = int(rows["n"].max()), float(rows["result_ms"].max() - rows["row_ms"].min()) / 1000
    return {"rows": count, "seconds": seconds, "rows_per_s": round(count / seconds)}


def delays(results: Path) -> dict[str, float]:
    """Median and 95th percentile of a row's time from Redis to Redis, and inside the topology, ms."""
    rows = read_whole_numbers(results, RESULT_COLUMNS)
    rows = rows[rows["paced"] == 1]
    times_ms = {
        "end_to_end": rows["result_ms"] - rows["row_ms"],
        "in_topology": (rows["done_us"] - rows["emit_us"]) / 1000,
        "redis_to_source": rows["emit_us"] / 1000 - rows["row_ms"],
    }
    return {
        "rows": len(rows),
        **{
            f"{name}_p{percent}_ms": round(float(values.quantile(percent / 100, "higher")), 3)
            for name, values in times_ms.items()
            for percent in (50, 95)
        },
        "rows_per_entry": round(len(rows) / max(1, int((rows["emit_us"].diff() != 0).sum())), 2),
    }


def cpu_seconds(lab: LabClient) -> dict[str, float]:
    """Processor seconds used so far by what the lab runs, by program or component."""
    used: dict[str, float] = {}
    for process, name in processes(lab):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used[name] = round(used.get(name, 0.0) + times.user + times.system, 2)
    return dict(sorted(used.items(), key=lambda item: -item[1]))


def processes(lab: LabClient) -> Iterator[tuple[psutil.Process, str]]:
    """All processes of the lab with the component, or else the program, that they run."""
    for process in psutil.Process(keeper_pid(lab.folder.socket)).children(recursive=True):
        try:
            command = process.cmdline()
        except psutil.NoSuchProcess:
            continue
        name = next((each for each in reversed(command) if each.startswith("topologies.")), None)
        name = name or next((each for each in command if each.endswith("Worker")), None)
        yield process, name or (Path(command[0]).name if command else "?")


def verdicts(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Whether the answers are the expected ones."""
    queries = {"1": (1,), "2": (2,), "both": (1, 2)}[options.query]
    with spark_session(java_options="") as spark:
        write_expected(spark, options.rows, folder / "expected", lambda _: None, queries=queries)
        verdict = compare_queries(spark, folder / "expected", folder / "fast")
    return {"equal": str(verdict.equal), "first": "" if verdict.first is None else verdict.first.sentence()}


if __name__ == "__main__":
    main()
