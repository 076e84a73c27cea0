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
from typing import TYPE_CHECKING, Any

from benchmarks.lab_commands import NIMBUS, STORMPLACE, begin, run, running_lab
from experiments.machine import PROJECT, provenance

if TYPE_CHECKING:
    from lab.cluster import LabClient

ROOT, ZOOKEEPER = "--root=/rates-accuracy", "--zookeeper=nimbus:2181"
RATES = {"slow": 10.0, "fast": 1000.0}
SAMPLE_RATES = (1.0, 0.05)
SETTLE_S = 60.0
"""The first windows hold the start of the workers."""


def main() -> None:
    """Run the benchmark and print one JSON object; errors are relative."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="time over which readings are judged")
    seconds = parser.parse_args().seconds
    with running_lab(PROJECT / "lab" / "sites" / "demo.toml", "even") as lab:
        collector = begin(lab, *STORMPLACE, "rates", NIMBUS, ZOOKEEPER, ROOT, stderr=subprocess.DEVNULL)
        cases = [_case(lab, sample_rate, seconds) for sample_rate in SAMPLE_RATES]
        cost = _cost(lab)
        collector.kill()
    print(json.dumps({"provenance": provenance().line(), "cases": cases, "collector": cost}, indent=2))


def _case(lab: LabClient, sample_rate: float, seconds: float) -> dict[str, Any]:
    """Judge the readings of one topology."""
    name = f"paced-{sample_rate:g}".replace(".", "-")
    paced = (sys.executable, "-m", "benchmarks.paced_topology")
    rates = [f"{spout}={rate:g}" for spout, rate in RATES.items()]
    run(lab, *paced, "submit", NIMBUS, f"--name={name}", f"--sample-rate={sample_rate}", *rates)
    watch = begin(lab, *paced, "watch", ZOOKEEPER, ROOT, stderr=subprocess.DEVNULL)
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
    run(lab, *STORMPLACE, "taxi", "kill", NIMBUS, f"--name={name}")
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
    for line in run(lab, "ps", "-eo", "rss=,cputimes=,etimes=,args=").splitlines():
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
