"""What a ZooKeeper server receives and sends, by who is at the other end.

Bytes are the kernel's own count of each connection's payload at the server (TCP_INFO by `ss`:
`bytes_received`, and `bytes_acked` of what was sent), exact to the byte and without headers; packets are the
server's count of each connection (four-letter command `cons`).
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATIENCE_S = 60.0
_CONNECTION = re.compile(r"\S+:\d+ +\S+:(?P<port>\d+)\s(?P<info>[^\n]*)")
_PACKETS = re.compile(r"/\S+:(?P<port>\d+)\[\d+\]\(queued=\d+,recved=(?P<received>\d+),")


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the server has received and sent, bytes of payload."""

    received: int
    sent: int

    def __sub__(self, former: Self) -> Traffic:
        return Traffic(self.received - former.received, self.sent - former.sent)

    def __add__(self, other: Self) -> Traffic:
        return Traffic(self.received + other.received, self.sent + other.sent)


def parse_sockets(text: str) -> dict[int, Traffic]:
    """Read the output of `ss -tinHO state established` for the server's port.

    Returns:
        By the client's port the traffic of its connection.
    """
    found = {}
    for line in text.splitlines():
        match = _CONNECTION.search(line)
        if match is None:
            raise ValueError(f"not a line of ss: {line!r}")
        numbers = dict(re.findall(r"\b(bytes_acked|bytes_received):(\d+)", match["info"]))
        # a counter that is zero is left out
        found[int(match["port"])] = Traffic(
            int(numbers.get("bytes_received", 0)), int(numbers.get("bytes_acked", 0))
        )
    return found


def sockets(address: str) -> dict[int, Traffic]:
    """Read the traffic of all connections of the server at `address` so far, by the clients' ports."""
    if shutil.which("ss") is None:
        raise SystemExit("ss (package iproute2) is missing: it reads what connections have carried")
    command = ["ss", "-tinHO", "state", "established", "sport", "=", f":{address.rpartition(':')[2]}"]
    return parse_sockets(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def ports_of(process: psutil.Process, address: str) -> frozenset[int]:
    """Return the local ports of a process' connections to the server."""
    port = int(address.rpartition(":")[2])
    return frozenset(
        one.laddr.port
        for one in process.net_connections(kind="tcp")
        if one.raddr and one.raddr.port == port and one.status == psutil.CONN_ESTABLISHED
    )


def growth(
    before: Mapping[int, Traffic], after: Mapping[int, Traffic], parties: Mapping[str, frozenset[int]]
) -> dict[str, Traffic]:
    """Return what each party's connections have carried between two moments.

    Args:
        before: Traffic by port, at the first moment.
        after: The same at the second.
        parties: Ports of each party.

    Raises:
        SystemExit: A connection is not there at both: what it carried is not known.
    """
    for party, ports in parties.items():
        if lost := ports - (before.keys() & after.keys()):
            raise SystemExit(f"{len(lost)} connections of {party} were lost while traffic was measured")
    return {
        party: sum((after[port] - before[port] for port in ports), Traffic(0, 0))
        for party, ports in parties.items()
    }


def parse_packets(text: str) -> dict[int, int]:
    """Read the answer to `cons`: packets received, by the client's port."""
    return {int(match["port"]): int(match["received"]) for match in _PACKETS.finditer(text)}


def server_counters(address: str) -> tuple[dict[str, float], dict[int, int]]:
    """Read the server's own counters by its four-letter commands.

    Returns:
        Its counters of packets, latency (ms) and znodes; packets received by the clients' ports.
    """
    packets = parse_packets(_command(address, b"cons"))
    fields = dict(line.split(": ", 1) for line in _command(address, b"srvr").splitlines() if ": " in line)
    return {
        "received": float(fields["Received"]),
        "latency_avg_ms": float(fields["Latency min/avg/max"].split("/")[1]),
    }, packets


def _command(address: str, command: bytes) -> str:
    """Return the whole answer; the client's own `command` gives its first 8 kB."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_PATIENCE_S) as connection:
        connection.sendall(command)
        with connection.makefile("rb") as answer:
            return answer.read().decode()
