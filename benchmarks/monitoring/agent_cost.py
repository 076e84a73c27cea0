"""What an agent costs its host, in clusters of different size.

    python -m benchmarks.monitoring.agent_cost [--hosts 4 32 1000] [--seconds 120]

One real agent at default settings (with four slot ports) meets published readings of other hosts. One socket
answers the probes to all of them, and sends the agent as many probes as it sends itself: in a cluster
everybody sends one per second, so that each gets one per second. Starts a ZooKeeper and prints a table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from kazoo.client import KazooClient

from benchmarks.monitoring.agents_writes import content
from benchmarks.monitoring.zookeeper_server import zookeeper_server
from experiments.machine import PROJECT, provenance
from formats.packed_content import pack, unpack
from monitoring.agent.probe import Answer, Probe, decode, encode_answer, encode_probe
from monitoring.coordinate import Coordinate

ROOT = "/cost"
WARM_UP_S = 30.0
HERE = Coordinate((10.0, 0.0, 0.0, 0.0, 0.0), 0.1, 0.1)


class Others(asyncio.DatagramProtocol):
    """All other hosts on one socket."""

    def __init__(self) -> None:
        self.from_agent_bytes = 0
        self.probes = 0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket."""
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a probe, and send one back for it; count what came."""
        self.from_agent_bytes += len(data)
        message = decode(data)
        if isinstance(message, Probe):
            self.probes += 1
            self.transport.sendto(encode_answer(Answer(message.nonce, HERE)), addr)
            self.transport.sendto(encode_probe(Probe(secrets.randbits(64), message.dimensions)), addr)


def publish(address: str, hosts: int, port: int) -> KazooClient:
    """Make the readings of the other hosts."""
    client = KazooClient(address)
    client.start(timeout=60)
    client.ensure_path(f"{ROOT}/nodes")
    replies = []
    for number in range(hosts - 1):
        fields = {**json.loads(content(f"host-{number}", 1)), "probe": f"127.0.0.1:{port}"}
        replies.append(client.create_async(f"{ROOT}/nodes/host-{number}", pack(json.dumps(fields).encode())))
    for reply in replies:
        reply.get(timeout=60)
    return client


async def measure(hosts: int, seconds: float, folder: Path) -> dict[str, float]:
    """Return the cost in a cluster of so many hosts."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        agent_port = free.getsockname()[1]
    loop = asyncio.get_running_loop()
    transport, others = await loop.create_datagram_endpoint(Others, local_addr=("127.0.0.1", 0))
    with zookeeper_server(folder) as (address, _):
        client = await asyncio.to_thread(publish, address, hosts, transport.get_extra_info("sockname")[1])
        command = [sys.executable, "-m", "cli.main", "agent", "--host", "measured", "--zookeeper", address]
        command += ["--root", ROOT, "--bind", "127.0.0.1", "--port", str(agent_port)]
        command += ["--slot-ports", "6700,6701,6702,6703"]
        agent = await asyncio.create_subprocess_exec(
            *command, cwd=PROJECT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        process = psutil.Process(agent.pid)
        await asyncio.sleep(WARM_UP_S)
        times, sent, probes, began_s = (
            process.cpu_times(),
            others.from_agent_bytes,
            others.probes,
            time.monotonic(),
        )
        await asyncio.sleep(seconds)
        passed_s, now = time.monotonic() - began_s, process.cpu_times()
        figures = {
            "hosts": hosts,
            "cpu_percent": 100 * (now.user + now.system - times.user - times.system) / passed_s,
            "memory_mb": process.memory_info().rss / 1e6,
            "probes_per_s": (others.probes - probes) / passed_s,
            "sent_bytes_per_s": (others.from_agent_bytes - sent) / passed_s,
            "reading_bytes": len(unpack(client.get(f"{ROOT}/nodes/measured")[0])),
        }
        agent.terminate()
        await agent.communicate()
        await asyncio.to_thread(client.stop)
        client.close()
    transport.close()
    return figures


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=[4, 32, 1000])
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    print(provenance().line())
    print(
        "| hosts | CPU (% of a core) | resident (MB) | probes sent per s | payload sent (B/s) | reading (B) |"
    )
    print("|---:|---:|---:|---:|---:|---:|")
    for hosts in options.hosts:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(measure(hosts, options.seconds, Path(folder)))
        print(
            "| {hosts} | {cpu_percent:.2f} | {memory_mb:.1f} | {probes_per_s:.2f} | {sent_bytes_per_s:.0f} | "
            "{reading_bytes} |".format(**found),
            flush=True,
        )


if __name__ == "__main__":
    main()
