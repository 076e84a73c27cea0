"""Measures how well agents find out what the links of a lab carry, and what they send for it.

    python -m benchmarks.lab_trains [--share 0.05] [--minutes 6] [--load 0.5]

A lab of `lab/sites/narrow.toml` is brought up whose agents measure bandwidth. What they publish at the end is
compared with the narrowest link of each path, and every packet of a train is counted as it leaves its host.
With a load, UDP of others takes that part of each limited link meanwhile.
"""

from __future__ import annotations

import argparse
import json
import math
import select
import socket
import sys
import tempfile
import time
from collections import deque
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient

from benchmarks.lab_bandwidth import SITES
from benchmarks.lab_commands import begin, finish, run, running_lab
from experiments.machine import provenance
from formats.packed_content import unpack
from formats.site_file import read_site_file
from lab.namespaces import enter_network
from monitoring.agent.bandwidth.bandwidth_meter import CAUTIOUS_BYTES_PER_S
from monitoring.agent.bandwidth.train_messages import Ask, Packet, decode, is_of_train

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from formats.site_file import SiteFile
    from lab.cluster import LabClient

_ALL_PROTOCOLS = 0x0003
_OUTGOING = 4
_UDP = 17
_HEADERS = 28
_MINUTE_S = 60.0

Sent = tuple[float, str, int, bool]
"""When a packet of trains left (s), to whom, its bytes, and whether it was the host's own ask or train."""


def main() -> None:
    """Measure, or be one of the processes on a host that the measurement needs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=0.05, help="the agents' --bandwidth-share")
    parser.add_argument("--minutes", type=float, default=6.0, help="how long they measure")
    parser.add_argument("--load", type=float, default=0.0, help="part of each limited link that others use")
    parser.add_argument("--count", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--readings", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.count is not None:
        print(json.dumps(count(**options.count)))
    elif options.readings:
        print(json.dumps(readings()))
    else:
        measure(options.share, options.minutes, options.load)


def measure(share: float, minutes: float, load: float) -> None:
    """Print what is published, and what was sent for it."""
    print(provenance().line())
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "sites.toml"
        file.write_text(f"bandwidth_share = {share}\n{SITES.read_text(encoding='utf-8')}", encoding="utf-8")
        sites = read_site_file(file)
        with running_lab(file, "even", Path(scratch)) as lab:
            hosts = {host.name: host for host in lab.status().hosts if host.name in sites.hosts}
            order = {
                "places": {name: host.pause_pid for name, host in hosts.items()},
                "seconds": 60 * minutes,
            }
            here = (sys.executable, "-m", "benchmarks.lab_trains")
            floods = [
                begin(lab, sys.executable, "-m", "benchmarks.lab_bandwidth", "--flood", json.dumps(flood))
                for flood in loads(lab, load, 60 * minutes)
            ]
            counting = begin(lab, *here, "--count", json.dumps(order))
            sent: dict[str, list[Sent]] = json.loads(finish(counting, *here, "--count"))
            published = json.loads(run(lab, *here, "--readings"))
            for flood in floods:
                finish(flood, "benchmarks.lab_bandwidth")
            known_s = {name: _known_after_s(lab, name) for name in hosts}
            names = {host.address: name for name, host in hosts.items()}
    print(
        "\n| path | set, bytes/s | measured, by direction | error | known after |\n| --- "
        + "| ---: " * 4
        + "|"
    )
    for row in path_rows(sites, published, known_s):
        print(row)
    print(
        "\n| host | asks and packets | bytes in all | busiest minute | allowed |\n| --- "
        + "| ---: " * 4
        + "|"
    )
    for name, packets in sent.items():
        own = [(at_s, size) for at_s, _, size, mine in packets if mine]
        allowed = 60 * share * min([CAUTIOUS_BYTES_PER_S, *_bandwidths(published[name]).values()])
        total = sum(size for _, size in own)
        print(f"| {name} | {len(own):,} | {total:,} | {busiest_minute(own):,} | {allowed:,.0f} |")
    for site in sites.site:
        if math.isfinite(site.uplink_bytes_per_s):
            inside = {name for name, home in sites.hosts.items() if home == site.name}
            crossing = [
                (at_s, size)
                for name, packets in sent.items()
                for at_s, to, size, _ in packets
                if (name in inside) != (names[to] in inside)
            ]
            part = busiest_minute(crossing) / (60 * site.uplink_bytes_per_s)
            print(f"\nUplink of {site.name}: trains of all hosts take {part:.1%} of the busiest minute.")


def loads(lab: LabClient, load: float, seconds: float) -> Iterable[dict[str, Any]]:
    """Yield the floods, as `benchmarks.lab_bandwidth` takes them, of which each uses a part of a link."""
    hosts = {host.name: host for host in lab.status().hosts}
    for source, bytes_per_s in (("edge-1", 125e3), ("fog-1", 1.25e6), ("near-1", 6.25e6)):
        if load > 0:
            yield {
                "places": [[hosts[name].pause_pid, hosts[name].address] for name in (source, "cloud-1")],
                "flows": [[0, 1]],
                "bytes_per_s": load * bytes_per_s,
                "seconds": seconds,
            }


def path_rows(
    sites: SiteFile, published: Mapping[str, Any], known_s: Mapping[str, Mapping[str, float]]
) -> Iterable[str]:
    """Yield a row for each pair of hosts."""
    found = {name: _bandwidths(reading) for name, reading in published.items()}
    for one in sites.hosts:
        for other in sites.hosts:
            if one >= other:
                continue
            expected = narrowest(sites, sites.hosts[one], sites.hosts[other])
            both = [found[a].get(b, math.nan) for a, b in ((one, other), (other, one))]
            errors = " / ".join(f"{each / expected - 1:+.1%}" for each in both)
            known = " / ".join(
                f"{known_s[a].get(b, math.nan):.0f} s" for a, b in ((one, other), (other, one))
            )
            limited = math.isfinite(expected)
            yield (
                f"| {one}, {other} | {f'{expected:,.0f}' if limited else 'no limit'} "
                f"| {' / '.join(f'{each:,.0f}' for each in both)} | {errors if limited else ''} | {known} |"
            )


def narrowest(sites: SiteFile, one: str, other: str) -> float:
    """Return what the path between two sites carries, bytes/s."""
    uplinks = [site.uplink_bytes_per_s for site in sites.site if site.name in (one, other)]
    links = [link.bandwidth_bytes_per_s for link in sites.link if set(link.between) == {one, other}]
    return min(uplinks + links)


def busiest_minute(sent: Sequence[tuple[float, int]]) -> int:
    """Return the bytes of the minute with most of them."""
    minute: deque[tuple[float, int]] = deque()
    most = 0
    for at_s, size in sorted(sent):
        minute.append((at_s, size))
        while minute[0][0] + _MINUTE_S <= at_s:
            minute.popleft()
        most = max(most, sum(each for _, each in minute))
    return most


def count(places: Mapping[str, int], seconds: float) -> dict[str, list[Sent]]:
    """Return the packets of trains that leave each host.

    Args:
        places: Process that holds a host's network, by host.
        seconds: How long they are counted.
    """
    taps = {}
    for name, pid in places.items():
        enter_network(pid)
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS))
        tap.setblocking(False)
        taps[tap] = name
    sent: dict[str, list[Sent]] = {name: [] for name in places}
    end_s = time.monotonic() + seconds
    while (now_s := time.monotonic()) < end_s:
        for tap in select.select([*taps], [], [], end_s - now_s)[0]:
            packet, about = tap.recvfrom(65_536)
            at_s, content = time.monotonic(), packet[_HEADERS:]
            if about[2] == _OUTGOING and packet[9] == _UDP and is_of_train(content):
                own = isinstance(decode(content), Ask | Packet)
                sent[taps[tap]].append((at_s, socket.inet_ntoa(packet[16:20]), len(packet), own))
    return sent


def readings() -> dict[str, Any]:
    """Return what the agents publish, by host."""
    client = KazooClient(hosts="nimbus:2181")
    client.start()
    folder = "/stormplace/nodes"
    found = {
        host: json.loads(unpack(client.get(f"{folder}/{host}")[0])) for host in client.get_children(folder)
    }
    client.stop()
    return found


def _bandwidths(reading: Mapping[str, Any]) -> dict[str, float]:
    """Return the bandwidths that a reading holds, bytes/s, by peer."""
    return {
        peer: link["bandwidth_bytes_per_s"]
        for peer, link in reading["links"].items()
        if "bandwidth_bytes_per_s" in link
    }


def _known_after_s(lab: LabClient, host: str) -> dict[str, float]:
    """Return after how long an agent knew a bandwidth, s since its start, by peer."""
    lines = (lab.folder.logs / f"agent-{host}.out").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    started = next(each for each in events if each["event"] == "agent-started")
    return {
        each["peer"]: (_time(each) - _time(started)).total_seconds()
        for each in events
        if each["event"] == "bandwidth-known"
    }


def _time(event: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(event["timestamp"])


if __name__ == "__main__":
    main()
