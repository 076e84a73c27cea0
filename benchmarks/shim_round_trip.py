"""Round trip of the shim: 1,000 rounds of `schedule()` with three topologies against the real daemon.

    python -m benchmarks.shim_round_trip [--rounds N]

Starts the daemon on a free loopback port, runs io.stormplace.RoundTripBenchmark by Maven, prints its JSON.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from experiments.machine import PROJECT, provenance

PATIENCE_S = 600


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        config = Path(folder) / "daemon.toml"
        config.write_text(f'[server]\nhost = "127.0.0.1"\nport = {port}\n', encoding="utf-8")
        command = [sys.executable, "-m", "cli.main", "daemon", "--config", str(config)]
        with (Path(folder) / "daemon.log").open("wb") as log:
            daemon = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=log)
            try:
                if daemon.stdout is None or not daemon.stdout.readline():
                    raise SystemExit("the daemon did not start")
                figures = _ask(port, rounds)
            finally:
                daemon.terminate()
                daemon.communicate(timeout=30)
    print(json.dumps({"provenance": provenance().line(), **figures}, indent=2))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


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
