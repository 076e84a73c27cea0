"""Measures what the emulator carries: one TCP stream between two hosts.

`python -m benchmarks.lab_throughput FROM TO [--dir FOLDER] [--seconds 5]` prints megabytes per second.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from lab.cluster import LabClient
from lab.errors import LabError
from lab.places import DEFAULT_FOLDER

PORT = 7098
_CHUNK_BYTES = 1 << 18


def measure(client: LabClient, source: str, target: str, seconds: float) -> float:
    """Return the throughput from one host to another in MB/s (10^6 bytes), as the receiver counts it.

    Raises:
        LabError: No lab is running, a host is unknown or a measuring process failed.
    """
    module = [sys.executable, "-m", "benchmarks.lab_throughput"]
    with client.exec(target, [*module, "--receive"], stdout=subprocess.PIPE) as receiver:
        try:
            if receiver.stdout is None or not receiver.stdout.readline():
                raise LabError("the receiving process did not start")
            send = client.exec(source, [*module, source, target, "--send", str(seconds)])
            if send.wait() != 0:
                raise LabError(f"the sending process ended with status {send.returncode}")
            result = json.loads(receiver.stdout.readline())
        finally:
            receiver.kill()
    return float(result["bytes"] / result["seconds"] / 1e6)


def _receive() -> None:
    """Count the bytes of one connection."""
    with socket.create_server(("", PORT)) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
        begun_s = time.monotonic()
        count = 0
        while chunk := connection.recv(_CHUNK_BYTES):
            count += len(chunk)
        print(json.dumps({"bytes": count, "seconds": time.monotonic() - begun_s}), flush=True)


def _send(target: str, seconds: float) -> None:
    """Send as much as goes in some time."""
    content = bytes(_CHUNK_BYTES)
    with socket.create_connection((target, PORT), timeout=30.0) as connection:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            connection.sendall(content)


def main() -> None:
    """Measure a running lab, or be one of the two measuring processes."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lab_throughput", description="Throughput in a lab."
    )
    parser.add_argument("source", nargs="?", help="host that sends")
    parser.add_argument("target", nargs="?", help="host that receives")
    parser.add_argument("--dir", type=Path, default=DEFAULT_FOLDER, help="state folder of the lab")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to send")
    parser.add_argument("--receive", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--send", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.receive:
        _receive()
    elif options.source is None or options.target is None:
        parser.error("two hosts are needed")
    elif options.send is not None:
        _send(options.target, options.send)
    else:
        try:
            rate = measure(LabClient(options.dir), options.source, options.target, options.seconds)
        except LabError as error:
            raise SystemExit(f"benchmarks.lab_throughput: {error}") from None
        print(f"{rate:.1f} MB/s")


if __name__ == "__main__":
    main()
