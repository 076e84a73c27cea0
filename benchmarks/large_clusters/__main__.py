"""Run schedulers on large clusters in memory; one JSON object, and a table for people.

    python -m benchmarks.large_clusters [--cluster NAME ...] [--schedulers stormplace,ras] [--json FILE]
    python -m benchmarks.large_clusters --export FOLDER [--cluster NAME ...]

A cluster is recorded-01, recorded-02 or recorded-03 (Storm's own, from the tests jar of storm-server), or
made with a seed, as made:hosts=100,racks=4,topologies=20,executors=50,sizes=1,components=8,seed=1 (executors
are those of a topology in the mean, components those of each; with sizes=3 topologies have executors as 1 to
4 to 16; what is left out is as here). The sets recorded, growth and made stand for several clusters. Every
cluster has a JVM and a daemon of its own, in which all schedulers run in turn. First everything is placed, in
up to --rounds rounds; then come rounds in which nothing changed; then, each from the first placement: one
executor is missing in each of some topologies, some executors of one topology are missing, a host is lost.

A scheduler of which a round takes longer than --limit-s is ended with the JVM, and the others are measured
again without it. --export only writes the clusters.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from benchmarks.announced import announced
from benchmarks.large_clusters.cluster import read_assignment, read_cluster
from benchmarks.large_clusters.clusters import RECORDED, SETS, clusters_of, file_name, parameters
from benchmarks.large_clusters.java_side import JVM_FLAGS, OverdueError, Spec, class_path, run
from benchmarks.large_clusters.judge import described, judged
from benchmarks.large_clusters.table import table
from benchmarks.local_daemon import local_daemon
from experiments.machine import provenance

SCHEDULERS = ("stormplace", "ras", "default")
INTERRUPTED_STATUS = 130


def main() -> None:
    """Measure or export."""
    arguments = _arguments()
    # JVM and daemon are ended by their handles then too
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    classes = class_path()
    try:
        if arguments.export is not None:
            _export(arguments.cluster, classes, arguments.export)
        else:
            _measure(arguments, classes)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(INTERRUPTED_STATUS) from None


def _export(clusters: list[str], classes: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in announced(clusters, str):
        with tempfile.TemporaryDirectory() as work:
            for _ in run(classes, Spec(parameters(name), name), Path(work)):
                pass
            shutil.copyfile(Path(work) / "cluster.json", folder / f"{file_name(name)}.json")


def _measure(arguments: argparse.Namespace, classes: str) -> None:
    report: dict[str, Any] = {
        "provenance": provenance().line(),
        "jvm_flags": " ".join(JVM_FLAGS),
        "daemon_settings": arguments.settings.read_text(encoding="utf-8") if arguments.settings else "",
        "nimbus": dict(arguments.nimbus),
        "clusters": [],
    }
    for name in announced(arguments.cluster, str):
        report["clusters"].append(_measured(name, arguments, classes, report["daemon_settings"]))
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if arguments.json is None:
        sys.stdout.write(json.dumps(report) + "\n\n")
    sys.stdout.write(f"{report['provenance']}; JVM {report['jvm_flags']}\n")
    for each in report["clusters"]:
        sys.stdout.write(f"\n{table(each)}")


def _measured(name: str, arguments: argparse.Namespace, classes: str, settings: str) -> dict[str, Any]:
    """Return the figures of all schedulers on one cluster; those that take too long have that alone."""
    overdue: list[str] = []
    while True:
        left = [each for each in arguments.schedulers if each not in overdue]
        try:
            measured = _together(name, left, arguments, classes, settings)
        except OverdueError as error:
            sys.stderr.write(f"    {error.scheduler}: a round takes longer than {arguments.limit_s:g} s\n")
            overdue.append(error.scheduler)
            continue
        measured["runs"] += [{"scheduler": each, "overdue_s": arguments.limit_s} for each in overdue]
        return measured


def _together(
    name: str, schedulers: list[str], arguments: argparse.Namespace, classes: str, settings: str
) -> dict[str, Any]:
    """Return the figures of schedulers that run in one JVM."""
    with ExitStack() as stack:
        if arguments.keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            folder = arguments.keep.resolve() / file_name(name)
            folder.mkdir(parents=True, exist_ok=True)
        spec = Spec(
            parameters(name),
            name,
            schedulers,
            dict(arguments.nimbus),
            repeats=arguments.repeats,
            most_rounds=arguments.rounds,
            pause_ms=arguments.pause_ms,
            unchanged_rounds=arguments.unchanged_rounds,
            unchanged_pause_ms=arguments.unchanged_pause_ms,
            losses=arguments.losses,
            missing_topologies=arguments.missing_topologies,
            missing_executors=arguments.missing_executors,
        )
        if "stormplace" in schedulers:
            daemon = stack.enter_context(local_daemon(folder, settings))
            spec = dataclasses.replace(
                spec,
                nimbus={**(spec.nimbus or {}), "stormplace.daemon.port": daemon.port},
                daemon_pid=daemon.pid,
            )
        runs = []
        for figures in stack.enter_context(closing(run(classes, spec, folder, arguments.limit_s))):
            if figures["scheduler"] == "stormplace":
                figures["daemon_peak_mb"] = _peak_mb(spec.daemon_pid)
            sys.stderr.write(f"    {figures['scheduler']}: {figures['seconds']} s\n")
            runs.append(figures)
        cluster = read_cluster(folder / "cluster.json")
        for figures in runs:
            figures.update(judged(cluster, read_assignment(folder / figures["assignment"])))
    return {"name": name, **described(cluster, bounded=arguments.bound), "runs": runs}


def _peak_mb(pid: int) -> float:
    """Return the most resident memory that the daemon has had, MB (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise SystemExit("the daemon ended before the benchmark did") from None
    peak = next(line for line in lines if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024 / 1e6


def _clusters(text: str) -> tuple[str, ...]:
    try:
        return clusters_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _schedulers(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SCHEDULERS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SCHEDULERS)}")
    return names


def _key(text: str) -> tuple[str, object]:
    """Read a key of Nimbus' configuration and its value, which is JSON or text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no KEY=VALUE")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    wanted = f"clusters, or {', '.join(SETS)} (all recorded ones)"
    add("--cluster", nargs="+", type=_clusters, default=[RECORDED], help=wanted)
    add("--schedulers", type=_schedulers, default=list(SCHEDULERS), help="which run, with commas (all)")
    add("--settings", type=Path, help="TOML for the daemon, without a table server; defaults without it")
    add("--nimbus", type=_key, action="append", default=[], metavar="KEY=VALUE", help="key of storm.yaml")
    add("--repeats", type=int, default=1, help="runs of each scheduler (%(default)s)")
    add("--rounds", type=int, default=3, help="most rounds until all is placed (%(default)s)")
    add("--pause-ms", type=int, default=10_000, help="between these; Nimbus' own is %(default)s")
    add("--unchanged-rounds", type=int, default=3, help="in which nothing changed (%(default)s)")
    add("--unchanged-pause-ms", type=int, default=1_000, help="after each of these (%(default)s)")
    add("--limit-s", type=float, help="longest that a round and the pause after it may take (none)")
    add("--losses", action=argparse.BooleanOptionalAction, default=True, help="executors and a host go")
    add("--missing-topologies", type=int, default=40, help="that lose one executor each (%(default)s)")
    add("--missing-executors", type=int, default=10, help="that one topology loses (%(default)s)")
    add("--json", type=Path, help="file for the figures, written after each cluster (standard output)")
    add("--keep", type=Path, metavar="FOLDER", help="keep what is written there, logs too")
    add(
        "--bound", action=argparse.BooleanOptionalAction, default=True, help="the lower bound of the distance"
    )
    add("--export", type=Path, metavar="FOLDER", help="only write the clusters as JSON into a folder")
    arguments = parser.parse_args()
    arguments.cluster = [name for names in arguments.cluster for name in names]
    return arguments


if __name__ == "__main__":
    main()
