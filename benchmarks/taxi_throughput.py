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
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from experiments.machine import provenance
from lab.cluster import LabClient
from lab.control import keeper_pid
from replay.compare.compare import compare_queries
from replay.expected.compute import write_expected
from replay.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Iterator

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
PATIENCE_S = 1_800.0
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
    lab = LabClient(folder / "lab")
    lab.up(sites, "stormplace")
    try:
        conf = folder / "conf.json"
        conf.write_text(json.dumps(CONF), encoding="utf-8")
        submit(lab, options, "fast", conf)
        await_components(lab)
        run(lab, folder, "fast", [str(options.rows.resolve()), "--fast", "--ahead=120000"])
        busy = cpu_seconds(lab)
        if options.idle_rows:
            taxi(lab, "nimbus", "kill", "--nimbus=nimbus:6627", f"--name={NAME}")
            submit(lab, options, "idle", conf)
            await_components(lab)
            paced = ["--fast-rows=0", f"--rate={IDLE_RATE}", f"--paced-rows={options.idle_rows}"]
            run(lab, folder, "idle", [str(options.rows.resolve()), *paced], command="feed")
    finally:
        lab.down()
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
    """Submit the queries."""
    arguments = ["--nimbus=nimbus:6627", "--redis=redis:6379", f"--run={label}", f"--name={NAME}"]
    arguments += [f"--query={options.query}", f"--tasks={options.tasks}", f"--workers={options.workers}"]
    arguments.append(f"--conf={conf}")
    taxi(lab, "nimbus", "submit", *arguments)


def await_components(lab: LabClient) -> None:
    """Wait until the query's processes have all been started: their start is not what is measured."""
    end_s = time.monotonic() + PATIENCE_S
    known, since_s = 0, time.monotonic()
    while not known or time.monotonic() - since_s < SETTLED_S:
        found = sum(name.startswith("topologies.") for name in names(lab))
        if found != known:
            known, since_s = found, time.monotonic()
        if time.monotonic() > end_s:
            raise SystemExit("the query does not start")
        time.sleep(0.5)


def run(lab: LabClient, folder: Path, label: str, rows: list[str], command: str = "replay") -> None:
    """Feed rows and collect what comes of them, at the same time."""
    address = ["--redis=redis:6379", f"--run={label}"]
    feeding = started(lab, "redis", command, *rows, *address)
    taxi(lab, "redis", "collect", *address, f"--out={folder / label}")
    _, err = feeding.communicate(timeout=PATIENCE_S)
    if feeding.returncode != 0:
        raise SystemExit(f"taxi {command}: {err}")


def started(lab: LabClient, host: str, *arguments: str) -> subprocess.Popen[str]:
    """Start `stormplace taxi` on a host of the lab."""
    command = [sys.executable, "-m", "cli.main", "taxi", *arguments]
    return lab.exec(host, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def taxi(lab: LabClient, host: str, *arguments: str) -> None:
    """Run `stormplace taxi` on a host of the lab."""
    process = started(lab, host, *arguments)
    _, err = process.communicate(timeout=PATIENCE_S)
    if process.returncode != 0:
        raise SystemExit(f"taxi {arguments[0]}: {err}")


def speed(results: Path) -> dict[str, float]:
    """Rows per second from the first row in Redis to the last result there."""
    first_ms, last_ms, highest = None, 0, 0
    for n, row_ms, _, _, result_ms, _ in columns(results):
        first_ms = row_ms if first_ms is None else min(first_ms, row_ms)
        last_ms = max(last_ms, result_ms)
        highest = max(highest, n)
    seconds = (last_ms - (first_ms or 0)) / 1000
    return {"rows": highest, "seconds": seconds, "rows_per_s": round(highest / seconds)}


def delays(results: Path) -> dict[str, float]:
    """Median and 95th percentile of a row's time from Redis to Redis, and inside the topology, ms."""
    rows = [row for row in columns(results) if row[-1]]
    whole = sorted(result_ms - row_ms for _, row_ms, _, _, result_ms, _ in rows)
    inside = sorted((done_us - emit_us) / 1000 for _, _, emit_us, done_us, _, _ in rows)
    taken = sorted((emit_us / 1000 - row_ms) for _, row_ms, emit_us, _, _, _ in rows)
    middle, most = len(rows) // 2, len(rows) * 95 // 100
    return {
        "rows": len(rows),
        "end_to_end_p50_ms": whole[middle],
        "end_to_end_p95_ms": whole[most],
        "in_topology_p50_ms": inside[middle],
        "in_topology_p95_ms": inside[most],
        "redis_to_source_p50_ms": round(taken[middle], 3),
        "redis_to_source_p95_ms": round(taken[most], 3),
        "rows_per_entry": round(len(rows) / max(1, 1 + sum(a[2] != b[2] for a, b in pairwise(rows))), 2),
    }


def columns(results: Path) -> list[tuple[int, ...]]:
    """The rows of results.csv."""
    with results.open(encoding="utf-8") as file:
        next(file)
        return [tuple(int(text) for text in line.split(",")) for line in file]


def cpu_seconds(lab: LabClient) -> dict[str, float]:
    """Processor seconds used so far by what the lab runs, by program or component."""
    used: dict[str, float] = {}
    for process, name in processes(lab):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used[name] = round(used.get(name, 0.0) + times.user + times.system, 2)
    return dict(sorted(used.items(), key=lambda item: -item[1]))


def names(lab: LabClient) -> list[str]:
    """What the lab's processes run."""
    return [name for _, name in processes(lab)]


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
