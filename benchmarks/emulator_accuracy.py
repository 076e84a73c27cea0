"""Accuracy of the wide-area emulator: 200 round trips between every pair of hosts of the demo's lab, idle.

    python -m benchmarks.emulator_accuracy [--sites FILE] [--trips N]

Brings a lab of its own up (no topology runs), measures and takes it down.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.lab_accuracy import measure
from experiments.machine import PROJECT, provenance
from lab.cluster import LabClient


def main() -> None:
    """Run the benchmark and print one JSON object; times are round trips in ms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=Path, default=PROJECT / "lab" / "sites" / "demo.toml")
    parser.add_argument("--trips", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lab = LabClient(Path(folder) / "lab")
        lab.up(arguments.sites, "even")
        try:
            pairs = measure(lab, arguments.trips)
        finally:
            lab.down()
    errors_ms = sorted(pair.error_ms for pair in pairs)
    figures = {
        "provenance": provenance().line(),
        "pairs": len(pairs),
        "trips_per_pair": arguments.trips,
        "worst_error_of_mean_ms": round(errors_ms[-1], 3),
        "median_error_of_mean_ms": round(statistics.median(errors_ms), 3),
        "worst_standard_deviation_ms": round(max(pair.deviation_ms for pair in pairs), 3),
        "lost": sum(pair.sent - pair.received for pair in pairs),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
