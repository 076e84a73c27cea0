"""Isolated sites: which pairs they separate, and what happens to packets."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.emulator import forwarder
from lab.emulator.forwarder import Endpoint, Forwarder, ForwarderSetup
from lab.emulator.isolation import Isolation

WAIT_S = 20.0
NEAR, FAR = 0, 1
sites = st.integers(0, 4)


@given(st.lists(st.tuples(st.booleans(), sites), max_size=12), sites, sites)
def test_only_an_isolated_end_separates_and_never_within_a_site(
    changes: list[tuple[bool, int]], a: int, b: int
) -> None:
    """After any changes two sites are separated if they differ and the last change of either isolated it."""
    isolation = Isolation()
    last: dict[int, bool] = {}
    for isolates, site in changes:
        isolation = isolation.isolate(site) if isolates else isolation.rejoin(site)
        last[site] = isolates
    assert isolation.separates(a, b) == (a != b and (last.get(a, False) or last.get(b, False)))
    assert isolation.sites == {site for site, isolated in last.items() if isolated}


class Wires:
    """A forwarder between two near hosts and a far one, whose devices are sockets that keep packets apart."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, far_ms: float) -> None:
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
        self.forwarder = Forwarder(ForwarderSetup(ends, delays_ms, jitter_ms=0.0, loss=0.0, seed=0))
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


@pytest.mark.parametrize("isolated", [NEAR, FAR])
def test_packets_stop_between_sites_and_go_on_within(monkeypatch: pytest.MonkeyPatch, isolated: int) -> None:
    """Whichever end is isolated, packets pass within a site only; after rejoining they pass as before."""
    with closing(Wires(monkeypatch, far_ms=0.0)) as wires:
        wires.change(isolated=[isolated])
        wires.send(0, 2, "dropped")
        wires.pass_by("after it")
        assert wires.forwarder.counters.isolated == 1
        wires.change(isolated=[])
        wires.send(0, 2, "there")
        assert wires.receive(2) == "there"
        wires.send(2, 0, "and back")
        assert wires.receive(0) == "and back"
        assert wires.forwarder.counters.isolated == 1


def test_packets_under_way_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent before its site was isolated still arrives, what is sent afterwards does not."""
    with closing(Wires(monkeypatch, far_ms=200.0)) as wires:
        wires.send(0, 2, "under way")
        wires.pass_by("the first is read")
        wires.change(isolated=[FAR])
        wires.send(0, 2, "too late")
        assert wires.receive(2) == "under way"
        wires.change(isolated=[])
        wires.send(0, 2, "again")
        assert wires.receive(2) == "again"


def test_a_delay_set_while_isolated_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolating touches no delay, and a delay set meanwhile holds after rejoining."""
    with closing(Wires(monkeypatch, far_ms=60_000.0)) as wires:
        wires.change(isolated=[FAR])
        wires.change(a=NEAR, b=FAR, delay_ms=0.0)
        wires.change(isolated=[])
        wires.send(0, 2, "at once")
        assert wires.receive(2) == "at once"
