"""Round trip of the shim: 1,000 rounds of `schedule()` with three topologies against the real daemon.

    python -m benchmarks.shim_round_trip [--rounds N]

Starts the daemon on a free loopback port, runs io.stormplace.RoundTripBenchmark by Maven, prints its JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks.local_daemon import local_daemon
from experiments.machine import PROJECT, provenance

PATIENCE_S = 600


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, local_daemon(Path(folder)) as daemon:
        figures = _ask(daemon.port, rounds)
    print(json.dumps({"provenance": provenance().line(), **figures}, indent=2))


def _ask(port: int, rounds: int) -> dict[str, object]:
    """Run the Java side; its last line is one JSON object."""
    maven = ["mvn", "-q", "-f", "pom.xml", "-pl", "java-shim", "test-compile", "exec:java"]
    maven += ["-Dexec.mainClass=io.stormplace.RoundTripBenchmark", "-Dexec.classpathScope=test"]
    maven += [f"-Dexec.args=127.0.0.1 {port} {rounds}"]
    done = subprocess.run(maven, cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"the benchmark failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    figures: dict[str, object] = json.loads(lines[-1])
    return figures


if __name__ == "__main__":
    main()
