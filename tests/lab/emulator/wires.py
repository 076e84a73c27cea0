"""A forwarder whose devices are sockets."""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import TYPE_CHECKING

from lab.emulator import forwarder
from lab.emulator.forwarder import Endpoint, Forwarder, ForwarderSetup

if TYPE_CHECKING:
    import pytest

    from lab.emulator.narrow_links import NarrowLink

WAIT_S = 20.0
NEAR, FAR = 0, 1


class Wires:
    """A forwarder between two near hosts and a far one, whose devices are sockets that keep packets apart."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, far_ms: float, links: tuple[NarrowLink, ...] = ()
    ) -> None:
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(3)]
        self.hosts = [mine for mine, _ in pairs]
        self._devices = [device for _, device in pairs]
        for host, device in pairs:
            host.settimeout(WAIT_S)
            device.setblocking(False)
        devices = iter(device.fileno() for device in self._devices)
        monkeypatch.setattr(forwarder, "open_tun", lambda _pid, _address: next(devices))
        places = enumerate((NEAR, NEAR, FAR))
        ends = tuple(Endpoint(0, f"10.77.1.{host}", site) for host, site in places)
        delays_ms = [[0.0, far_ms], [far_ms, 0.0]]
        setup = ForwarderSetup(ends, delays_ms, 0.0, [[0.0] * 2] * 2, 0, links)
        self.forwarder = Forwarder(setup)
        control, self._control = os.pipe()
        self._thread = threading.Thread(target=self._run, args=(control,))
        self._thread.start()

    def _run(self, control: int) -> None:
        self.forwarder.run(control)
        os.close(control)

    def change(self, **change: object) -> None:
        """Send a line of control and wait until it holds.

        It lies ready before the packet, so whoever has forwarded the packet has read it.
        """
        os.write(self._control, json.dumps(change).encode() + b"\n")
        self.pass_by("holds")

    def pass_by(self, word: str) -> None:
        """See a packet through between the two near hosts; all that the first sent before is then read."""
        self.send(0, 1, word)
        assert self.receive(1) == word

    def send(self, source: int, target: int, word: str) -> None:
        header = bytes([0x45, *[0] * 11, 10, 77, 1, source, 10, 77, 1, target])
        self.hosts[source].send(header + word.encode())

    def receive(self, host: int) -> str:
        return self.hosts[host].recv(100)[20:].decode()

    def close(self) -> None:
        os.close(self._control)
        self._thread.join()
        for one in (*self.hosts, *self._devices):
            one.close()
