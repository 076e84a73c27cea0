"""Measures how well the emulator keeps bandwidths and loss of a site file: floods of UDP between hosts.

    python -m benchmarks.lab_bandwidth [--seconds 10]

An idle lab of `lab/sites/narrow.toml` is brought up. One small process floods with one and a half times what
a link carries, and counts what arrives once the queue is full; sizes are those of IP packets. What the lab's
own services send over the same links takes a part of it that does not count.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.lab_commands import running_lab
from experiments.machine import provenance
from lab.namespaces import enter_network
from lab.places import PROJECT_ROOT
from lab.priority import be_punctual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.cluster import LabClient

SITES = PROJECT_ROOT / "lab" / "sites" / "narrow.toml"
_HEADERS = 28
"""Bytes of IP and UDP before the content."""
_PACKET = 1_228
_FLOW = struct.Struct("!I")
_WARM_UP_S = 1.0
"""Time until queues are full, which does not count."""
_FLOODED = 1.5


@dataclass(frozen=True)
class Trial:
    """A flood.

    Attributes:
        what: What it shows.
        flows: Hosts that send, and to whom.
        bytes_per_s: What all flows send together.
        expected: Bytes/s that arrive, or the part that is lost.
        of_loss: Whether loss is measured.
    """

    what: str
    flows: tuple[tuple[str, str], ...]
    bytes_per_s: float
    expected: float
    of_loss: bool = False


TRIALS = (
    Trial("uplink, 1 Mbit/s", (("edge-1", "cloud-1"),), _FLOODED * 125e3, 125e3),
    Trial("link, 10 Mbit/s", (("fog-1", "cloud-1"),), _FLOODED * 1.25e6, 1.25e6),
    Trial("link, 50 Mbit/s", (("near-1", "cloud-1"),), _FLOODED * 6.25e6, 6.25e6),
    Trial("uplink, to two sites", (("edge-1", "cloud-1"), ("edge-1", "near-1")), 2 * _FLOODED * 125e3, 125e3),
    Trial("link, both directions", (("fog-1", "cloud-1"), ("cloud-1", "fog-1")), 3 * 1.25e6, 1.25e6),
    Trial("loss of a link", (("fog-1", "near-1"),), 6.25e6, 0.05, of_loss=True),
)


def main() -> None:
    """Measure, or be the process that floods."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each flood counts")
    parser.add_argument("--flood", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.flood is not None:
        print(json.dumps(flood(**options.flood)))
        return
    print(provenance().line())
    print("\n| | set | measured | error |\n| --- | ---: | ---: | ---: |")
    with running_lab(SITES, "even") as lab:
        for trial in TRIALS:
            print(row(lab, trial, options.seconds), flush=True)


def row(lab: LabClient, trial: Trial, seconds: float) -> str:
    """Return a row of the table."""
    hosts = {host.name: host for host in lab.status().hosts}
    names = sorted({name for flow in trial.flows for name in flow})
    order = {
        "places": [[hosts[name].pause_pid, hosts[name].address] for name in names],
        "flows": [[names.index(a), names.index(b)] for a, b in trial.flows],
        "bytes_per_s": trial.bytes_per_s,
        "seconds": seconds,
    }
    command = [sys.executable, "-m", "benchmarks.lab_bandwidth", "--flood", json.dumps(order)]
    with lab.exec("nimbus", command, stdout=subprocess.PIPE) as process:
        output, _ = process.communicate()
    sent, arrived = json.loads(output)
    if trial.of_loss:
        measured = 1.0 - sum(arrived) / sum(sent)
        shown = f"{trial.expected:.1%} | {measured:.2%}"
    else:
        measured = sum(arrived) / seconds
        shares = " + ".join(f"{each / seconds:,.0f}" for each in arrived)
        shown = f"{trial.expected:,.0f} bytes/s | {measured:,.0f}" + (
            f" ({shares})" if len(arrived) > 1 else ""
        )
    return f"| {trial.what} | {shown} | {measured / trial.expected - 1.0:+.1%} |"


def flood(
    places: Sequence[tuple[int, str]], flows: Sequence[tuple[int, int]], bytes_per_s: float, seconds: float
) -> tuple[list[int], list[int]]:
    """Return the bytes that each flow sent, and those that arrived, while it counts.

    Args:
        places: Process that holds a host's network, and the host's address.
        flows: Positions of hosts that send, and to whom.
        bytes_per_s: Of all flows together, in turn.
        seconds: How long it counts.
    """
    be_punctual()
    sockets = []
    for pid, address in places:
        enter_network(pid)
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        one.bind((address, 0))  # a port of its own: late packets of an earlier flood go elsewhere
        one.setblocking(False)
        sockets.append(one)
    addresses = [one.getsockname() for one in sockets]
    content = bytes(_PACKET - _HEADERS - _FLOW.size)
    sent, arrived = [0] * len(flows), [0] * len(flows)
    begin_s = time.monotonic()
    due_s, turn = begin_s, 0
    while (now_s := time.monotonic()) < begin_s + _WARM_UP_S + seconds:
        counts = now_s >= begin_s + _WARM_UP_S
        while due_s <= now_s:
            flow = turn % len(flows)
            source, target = flows[flow]
            sockets[source].sendto(_FLOW.pack(flow) + content, addresses[target])
            sent[flow] += _PACKET * counts
            due_s, turn = due_s + _PACKET / bytes_per_s, turn + 1
        for ready in select.select(sockets, [], [], max(0.0, due_s - time.monotonic()))[0]:
            (flow,) = _FLOW.unpack_from(ready.recv(_PACKET))
            arrived[flow] += _PACKET * counts
    return sent, arrived


if __name__ == "__main__":
    main()
