"""The wide-area emulator: holds every packet between hosts back for narrow links and for the sites' delay.

Started by the keeper with one JSON line on standard input (`ForwarderSetup`); further lines change delays or
isolate sites. It answers on standard output: `{"ready": true}` once, then counters each second while they
change.
"""

from __future__ import annotations

import json
import os
import select
import time
from dataclasses import asdict, dataclass
from typing import Any

from lab.emulator.delays import DelayTable
from lab.emulator.isolation import Isolation
from lab.emulator.narrow_links import NarrowLink, NarrowLinks
from lab.emulator.packets import PacketQueue
from lab.errors import LabError
from lab.namespaces import open_tun
from lab.pipes import LineReader
from lab.priority import be_punctual

QUEUE_LIMIT_BYTES = 64 << 20
_BURST_PACKETS = 64
_MAX_PACKET_BYTES = 65_536
_REPORT_INTERVAL_S = 1.0


@dataclass(frozen=True)
class Endpoint:
    """One host as the forwarder sees it: the process that holds its namespace, its address and its site."""

    pid: int
    address: str
    site_index: int


@dataclass(frozen=True)
class ForwarderSetup:
    """Everything that the forwarder needs to start.

    Attributes:
        delays_ms: One-way delays (n_sites, n_sites), local ones on the diagonal.
        jitter_ms: Standard deviation of their jitter.
        loss: Probabilities that a packet is dropped (n_sites, n_sites).
        seed: Of jitter and loss.
        links: Links of limited bandwidth, and those whose packets are counted.
        queue_ms: Longest wait before such a link.
    """

    endpoints: tuple[Endpoint, ...]
    delays_ms: list[list[float]]
    jitter_ms: float
    loss: list[list[float]]
    seed: int
    links: tuple[NarrowLink, ...] = ()
    queue_ms: float = 200.0

    def to_json(self) -> str:
        """Return the setup as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> ForwarderSetup:
        """Read what `to_json` wrote."""
        content: dict[str, Any] = json.loads(line)
        content["endpoints"] = tuple(Endpoint(**endpoint) for endpoint in content["endpoints"])
        content["links"] = tuple(
            NarrowLink(each["name"], tuple(each["sites"]), each["bytes_per_s"]) for each in content["links"]
        )
        return cls(**content)


@dataclass
class Counters:
    """Packets by fate since the start."""

    delivered: int = 0
    lost: int = 0  # by the site file's wish
    isolated: int = 0  # between sites that an isolation separates
    dropped: int = 0  # the queue before a narrow link was too long
    overflow: int = 0  # the queue was full
    refused: int = 0  # the receiving device was full
    unroutable: int = 0  # no host has the address, or no IPv4


class Forwarder:
    """Reads packets from all hosts' devices and writes them, delayed, to the right ones."""

    def __init__(self, setup: ForwarderSetup) -> None:
        """Open the devices.

        Raises:
            LabError: A device cannot be made.
        """
        self._devices = [open_tun(end.pid, end.address) for end in setup.endpoints]
        self._host_of_device = {device: index for index, device in enumerate(self._devices)}
        self._host_of_address = {
            bytes(int(part) for part in end.address.split(".")): index
            for index, end in enumerate(setup.endpoints)
        }
        self._site_of_host = [end.site_index for end in setup.endpoints]
        self._delays = DelayTable(setup.delays_ms, setup.jitter_ms, setup.loss, setup.seed)
        self._narrow = NarrowLinks(setup.links, setup.queue_ms / 1e3)
        self._isolation = Isolation()
        self._queue = PacketQueue(QUEUE_LIMIT_BYTES)
        self.counters = Counters()

    def run(self, control: int) -> None:
        """Forward until the control descriptor ends.

        Args:
            control: Descriptor of lines `{"a": site index, "b": site index, "delay_ms": number}` and
                `{"isolated": site indexes}`, which holds for packets sent from then on.
        """
        watched = [*self._devices, control]
        reader = LineReader(control)
        reported = ""
        report_due_s = 0.0
        while True:
            due_s = self._queue.next_due_s()
            now_s = time.monotonic()
            timeout_s = _REPORT_INTERVAL_S if due_s is None else max(0.0, due_s - now_s)
            readable, _, _ = select.select(watched, [], [], timeout_s)
            for descriptor in readable:
                if descriptor != control:
                    self._receive(descriptor)
                    continue
                changes = reader.read()
                if changes is None:
                    return
                for change in changes:
                    self._change(change)
            self._deliver()
            if now_s >= report_due_s:
                report_due_s = now_s + _REPORT_INTERVAL_S
                links = [asdict(each) for each in self._narrow.traffic]
                report = json.dumps({"counters": asdict(self.counters), "links": links})
                if report != reported:
                    reported = report
                    print(report, flush=True)

    def _change(self, change: dict[str, Any]) -> None:
        """Take a change of the network; packets under way keep what they were sent with."""
        if "isolated" in change:
            self._isolation = Isolation(frozenset(change["isolated"]))
        else:
            self._delays.set_delay(change["a"], change["b"], change["delay_ms"])

    def _receive(self, device: int) -> None:
        """Queue what a host has sent, at most a burst so that no host starves the others."""
        source = self._host_of_device[device]
        hosts = self._host_of_address
        for _ in range(_BURST_PACKETS):
            try:
                packet = os.read(device, _MAX_PACKET_BYTES)
            except BlockingIOError:
                return
            target = hosts.get(packet[16:20]) if packet[0] >> 4 == 4 else None
            if target is None:
                self.counters.unroutable += 1
            else:
                self._send(source, target, packet)

    def _send(self, source: int, target: int, packet: bytes) -> None:
        """Queue a packet until it arrives, or count why it does not."""
        sites = self._site_of_host[source], self._site_of_host[target]
        if self._isolation.separates(*sites):
            self.counters.isolated += 1
            return
        through_s = self._narrow.through_s(*sites, len(packet), time.monotonic())
        if through_s is None:
            self.counters.dropped += 1
        elif self._delays.is_lost(*sites):
            self.counters.lost += 1
        elif not self._queue.push(through_s + self._delays.draw_s(*sites), source, target, packet):
            self.counters.overflow += 1

    def _deliver(self) -> None:
        """Hand over the packets whose time has come."""
        for target, packet in self._queue.pop_due(time.monotonic()):
            try:
                os.write(self._devices[target], packet)
            except BlockingIOError:
                self.counters.refused += 1
            else:
                self.counters.delivered += 1


def main() -> None:
    """Serve the setup read from standard input."""
    # unbuffered, so that no byte of the next line is taken: that is for `Forwarder.run` to read
    setup = ForwarderSetup.from_json(os.fdopen(0, "rb", buffering=0, closefd=False).readline())
    try:
        forwarder = Forwarder(setup)
    except LabError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        raise SystemExit(1) from None
    be_punctual()
    print(json.dumps({"ready": True}), flush=True)
    forwarder.run(control=0)


if __name__ == "__main__":
    main()
