"""Measures how well the emulator keeps the site file's delays: UDP round trips between all pairs of hosts.

    python -m benchmarks.lab_accuracy [--dir FOLDER] [--trips 200]    a lab that runs: each pair as JSON
    python -m benchmarks.lab_accuracy --sites FILE [--trips 200]      an idle lab of its own: the worst pair

Two small processes do it, each with one socket per host: one echoes, one asks; that takes little from the
emulator.
"""

from __future__ import annotations

import argparse
import json
import math
import select
import socket
import statistics
import struct
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.lab_commands import running_lab
from experiments.machine import provenance
from lab.cluster import LabClient
from lab.errors import LabError
from lab.namespaces import enter_network
from lab.places import DEFAULT_FOLDER
from lab.priority import be_punctual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.status import HostStatus, LabStatus

ECHO_PORT = 7099
PACE_S = 0.002
_LATE_S = 2.0
_PROBE = struct.Struct("!Id")  # pair, time of sending


@dataclass(frozen=True)
class PairDelay:
    """Measured round trips of one pair of hosts.

    Attributes:
        expected_ms: Twice the one-way delay that the lab is set to.
        shortest_ms: Shortest round trip: what the emulator adds when the machine leaves it alone.
        mean_ms: Mean round trip of those that came back.
        deviation_ms: Standard deviation of the same.
        sent: Round trips begun.
        received: Round trips completed.
    """

    a: str
    b: str
    expected_ms: float
    shortest_ms: float
    mean_ms: float
    deviation_ms: float
    sent: int
    received: int

    @property
    def error_ms(self) -> float:
        """How far the mean is off."""
        return abs(self.mean_ms - self.expected_ms)


def measure(client: LabClient, trips: int = 200) -> list[PairDelay]:
    """Measure all pairs of hosts.

    Args:
        client: A lab that is running.
        trips: Round trips per pair.

    Raises:
        LabError: No lab is running, or the measuring processes failed.
    """
    status = client.status()
    hosts = status.hosts
    if not hosts:
        raise LabError(f"no lab is running in {client.folder.root}")
    places = json.dumps([[host.pause_pid, host.address] for host in hosts])
    module = [sys.executable, "-m", "benchmarks.lab_accuracy"]
    with client.exec(hosts[0].name, [*module, "--echo", places], stdout=subprocess.PIPE) as echo:
        try:
            if echo.stdout is None or not echo.stdout.readline():
                raise LabError("the echoing process did not start")
            ask = client.exec(
                hosts[0].name, [*module, "--ask", places, "--trips", str(trips)], stdout=subprocess.PIPE
            )
            output, _ = ask.communicate()
            if ask.returncode != 0:
                raise LabError(f"the asking process ended with status {ask.returncode}")
        finally:
            echo.kill()
    samples: list[list[float]] = json.loads(output)
    pairs = combinations(hosts, 2)
    return [_summary(status, a, b, trips, one) for (a, b), one in zip(pairs, samples, strict=True)]


def _summary(
    status: LabStatus, a: HostStatus, b: HostStatus, trips: int, trips_ms: Sequence[float]
) -> PairDelay:
    """Compare the round trips of a pair with what the lab is set to."""
    expected_ms = next(
        2.0 * delay_ms for one, other, delay_ms in status.delays_ms if {one, other} == {a.site, b.site}
    )
    return PairDelay(
        a.name,
        b.name,
        expected_ms=expected_ms,
        shortest_ms=min(trips_ms, default=math.nan),
        mean_ms=statistics.fmean(trips_ms) if trips_ms else math.nan,
        deviation_ms=statistics.pstdev(trips_ms or [0.0]),
        sent=trips,
        received=len(trips_ms),
    )


def _sockets(places: list[tuple[int, str]], port: int) -> list[socket.socket]:
    """Return one UDP socket in the network namespace of each host."""
    sockets = []
    for pid, address in places:
        enter_network(pid)
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((address, port))
        one.setblocking(False)
        sockets.append(one)
    return sockets


def _echo(places: list[tuple[int, str]]) -> None:
    """Send every datagram back to where it came from."""
    be_punctual()
    sockets = _sockets(places, ECHO_PORT)
    print("ready", flush=True)
    while True:
        for ready in select.select(sockets, [], [])[0]:
            content, sender = ready.recvfrom(64)
            ready.sendto(content, sender)


def _ask(places: list[tuple[int, str]], trips: int) -> list[list[float]]:
    """Return the round-trip times in ms of each pair (n_pairs, trips that came back)."""
    be_punctual()
    sockets = _sockets(places, 0)
    pairs = list(combinations(range(len(places)), 2))
    samples: list[list[float]] = [[] for _ in pairs]
    schedule = [pair for _ in range(trips) for pair in range(len(pairs))]
    due_s = time.monotonic()
    end_s = None
    missing = len(schedule)
    position = 0
    while missing and (end_s is None or time.monotonic() < end_s):
        now_s = time.monotonic()
        if position < len(schedule) and now_s >= due_s:
            pair = schedule[position]
            source, target = pairs[pair]
            sockets[source].sendto(_PROBE.pack(pair, time.monotonic()), (places[target][1], ECHO_PORT))
            position += 1
            due_s = now_s + PACE_S
            if position == len(schedule):
                end_s = now_s + _LATE_S
        timeout_s = max(0.0, (due_s if end_s is None else end_s) - time.monotonic())
        for ready in select.select(sockets, [], [], timeout_s)[0]:
            content = ready.recv(64)
            pair, sent_s = _PROBE.unpack(content)
            samples[pair].append((time.monotonic() - sent_s) * 1e3)
            missing -= 1
    return samples


def _worst(pairs: Sequence[PairDelay], trips: int) -> dict[str, float]:
    """Sum all pairs up; round trips in ms."""
    errors_ms = [pair.error_ms for pair in pairs]
    return {
        "pairs": len(pairs),
        "trips_per_pair": trips,
        "worst_error_of_mean_ms": round(max(errors_ms), 3),
        "median_error_of_mean_ms": round(statistics.median(errors_ms), 3),
        "worst_standard_deviation_ms": round(max(pair.deviation_ms for pair in pairs), 3),
        "lost": sum(pair.sent - pair.received for pair in pairs),
    }


def main() -> None:
    """Measure a running lab, or be one of the two measuring processes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=DEFAULT_FOLDER, help="state folder of the lab")
    parser.add_argument("--sites", type=Path, help="site file of a lab to bring up for this")
    parser.add_argument("--trips", type=int, default=200, help="round trips per pair of hosts")
    parser.add_argument("--echo", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo is not None:
        _echo(options.echo)
    elif options.ask is not None:
        print(json.dumps(_ask(options.ask, options.trips)))
    elif options.sites is not None:
        with running_lab(options.sites, "even") as lab:
            pairs = measure(lab, options.trips)
        print(json.dumps({"provenance": provenance().line(), **_worst(pairs, options.trips)}, indent=2))
    else:
        try:
            pairs = measure(LabClient(options.dir), options.trips)
        except LabError as error:
            raise SystemExit(f"benchmarks.lab_accuracy: {error}") from None
        for pair in pairs:
            print(json.dumps({**asdict(pair), "error_ms": round(pair.error_ms, 3)}))


if __name__ == "__main__":
    main()
