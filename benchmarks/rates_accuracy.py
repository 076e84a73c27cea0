"""Accuracy and cost of measured rates: 10 and 1,000 tuples/s, counted in full and by default sampling.

    python -m benchmarks.rates_accuracy [--seconds N]

Brings a lab of its own up, with the collector at its default settings; about seven minutes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiments.machine import PROJECT, provenance
from lab.cluster import LabClient

ROOT = "/rates-accuracy"
RATES = {"slow": 10.0, "fast": 1000.0}
SAMPLE_RATES = (1.0, 0.05)
SETTLE_S = 60.0
"""The first windows hold the start of the workers."""


def main() -> None:
    """Run the benchmark and print one JSON object; errors are relative."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="time over which readings are judged")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        lab = LabClient(Path(folder) / "lab")
        lab.up(PROJECT / "lab" / "sites" / "demo.toml", "even")
        try:
            collector = _begin(lab, "cli.main", "rates", "--nimbus=nimbus:6627", "--zookeeper=nimbus:2181")
            cases = [_case(lab, sample_rate, seconds) for sample_rate in SAMPLE_RATES]
            cost = _cost(lab)
            collector.kill()
        finally:
            lab.down()
    print(json.dumps({"provenance": provenance().line(), "cases": cases, "collector": cost}, indent=2))


def _begin(lab: LabClient, *command: str) -> subprocess.Popen[Any]:
    argv = [sys.executable, "-m", *command, "--root", ROOT]
    return lab.exec("nimbus", argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _run(lab: LabClient, *command: str) -> str:
    done = lab.exec("nimbus", command, stdout=subprocess.PIPE, text=True)
    out, _ = done.communicate(timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}")
    return str(out)


def _case(lab: LabClient, sample_rate: float, seconds: float) -> dict[str, Any]:
    """Judge the readings of one topology."""
    name = f"paced-{sample_rate:g}".replace(".", "-")
    python = (sys.executable, "-m")
    rates = [f"{spout}={rate:g}" for spout, rate in RATES.items()]
    submit = ("benchmarks.paced_topology", "submit", "--nimbus=nimbus:6627", f"--name={name}")
    _run(lab, *python, *submit, f"--sample-rate={sample_rate}", *rates)
    watch = _begin(lab, "benchmarks.paced_topology", "watch", "--zookeeper=nimbus:2181")
    errors: dict[str, list[float]] = {spout: [] for spout in RATES}
    windows_s = []
    begun_s = now_s = None
    while begun_s is None or now_s is None or now_s < begun_s + SETTLE_S + seconds:
        reading = json.loads(watch.stdout.readline()) if watch.stdout is not None else {}
        if not reading["topology"].startswith(f"{name}-"):
            continue
        now_s = float(reading["time"])
        begun_s = now_s if begun_s is None else begun_s
        if now_s < begun_s + SETTLE_S:
            continue
        windows_s.append(reading["window_s"])
        for stream in reading["streams"]:
            if stream["stream"] == "default":
                true = RATES[stream["from"]]
                errors[stream["from"]].append(abs(stream["rate"] - true) / true)
    watch.kill()
    _run(lab, *python, "cli.main", "taxi", "kill", "--nimbus=nimbus:6627", f"--name={name}")
    return {
        "sample_rate": sample_rate,
        "readings": len(windows_s),
        "window_s": [min(windows_s), max(windows_s)],
        "errors": {
            f"{RATES[spout]:g} tuples/s": {
                "median": round(statistics.median(found), 4),
                "worst": round(max(found), 4),
            }
            for spout, found in errors.items()
        },
    }


def _cost(lab: LabClient) -> dict[str, float]:
    """Return what the collector has used, as the kernel counts it."""
    for line in _run(lab, "ps", "-eo", "rss=,cputimes=,etimes=,args=").splitlines():
        rss_kib, cpu_s, age_s, program = line.split(maxsplit=3)
        if "cli.main rates" in program and "python" in program.split()[0]:
            return {
                "resident_mb": round(int(rss_kib) / 1024, 1),
                "cpu_s": float(cpu_s),
                "of_s": float(age_s),
            }
    raise SystemExit("the collector does not run")


if __name__ == "__main__":
    main()
