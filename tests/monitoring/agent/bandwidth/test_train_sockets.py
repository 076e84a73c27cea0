"""Trains over real sockets on the loopback interface, answered by an agent that sends none itself."""

from __future__ import annotations

import asyncio
import random
import select
import socket
import time
from typing import TYPE_CHECKING, Any

from monitoring.agent.bandwidth.arrival_clock import ArrivalClock
from monitoring.agent.bandwidth.bandwidth_meter import BandwidthMeter, TrainEnd
from monitoring.agent.bandwidth.train_messages import Ask, encode_ask
from monitoring.agent.bandwidth.train_targets import Destination
from monitoring.agent.bandwidth.trains import Trains
from monitoring.agent.probe import Probe, Refusal, encode_probe
from monitoring.agent.prober import Prober
from monitoring.coordinate import Coordinate
from monitoring.reading import Address, Link

if TYPE_CHECKING:
    from collections.abc import Callable

PLACE = Coordinate((1.0, 2.0, 3.0), 0.5, 0.25)
PATIENCE_S = 30.0


class Station:
    """A prober with its socket, and with trains unless it is of before there were any."""

    def __init__(self, trains: Trains | None, clock_s: Callable[[], float]) -> None:
        self.refused: list[Refusal] = []
        self.prober = Prober(
            lambda: PLACE,
            lambda *_answer: None,
            lambda _peer, _sent_s: None,
            clock_s=clock_s,
            on_refusal=lambda _sender, refusal, _reason: self.refused.append(refusal),
            trains=trains,
        )

    async def open(self) -> Address:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(
            lambda: self.prober, local_addr=("127.0.0.1", 0)
        )
        return Address(*self.transport.get_extra_info("sockname"))


def peer_trains(*, known: bool) -> Trains:
    return Trains(lambda host: known and host == "127.0.0.1", lambda _peer, _address: None, None)


def test_trains_between_two_probers_are_measured(fake_clock: Any, log: Any) -> None:
    """Six trains, in the real time of the kernel: each comes back with a rate, and the peer counts six."""

    async def scenario() -> None:
        measured: asyncio.Queue[str] = asyncio.Queue()
        meter = BandwidthMeter(0.05, random.Random(1), log)
        own = Trains(lambda _host: False, lambda peer, _address: measured.put_nowait(peer), meter)
        others = peer_trains(known=True)
        here, there = Station(own, fake_clock), Station(others, fake_clock)
        await here.open()
        peers = {"b": Destination("far", await there.open())}
        for count in range(1, 7):
            while (asked := meter.turn(peers, fake_clock.now_s)) is None:
                fake_clock.now_s += 10.0
            datagram, address = asked
            here.prober.send([(datagram, (address.host, address.port))])
            assert await measured.get() == "b"
            assert meter.ends == {TrainEnd.COUNTED: count}
        bare = Link(1.0, 1.0, 1.0, 1, 0.0, 1.0)
        bandwidth = meter.add_to({"b": bare}, fake_clock.now_s)["b"].bandwidth
        assert bandwidth is not None
        assert bandwidth.bytes_per_s > 1e6
        assert there.prober.refusals == here.prober.refusals == {}
        assert others.figures().answered == 6

    in_loop(scenario())


def test_a_stranger_and_a_prober_that_knows_no_trains_send_nothing_back(fake_clock: Any) -> None:
    """The next thing that comes back is the answer to a probe; the refusal says which of both it is."""

    async def scenario() -> None:
        for trains, reason in ((peer_trains(known=False), Refusal.STRANGER), (None, Refusal.MALFORMED)):
            station = Station(trains, fake_clock)
            address = await station.open()
            loop = asyncio.get_running_loop()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as raw:
                raw.bind(("127.0.0.1", 0))
                raw.setblocking(False)
                for datagram in (encode_ask(Ask(1, 8)), encode_probe(Probe(2, 3))):
                    await loop.sock_sendto(raw, datagram, (address.host, address.port))
                assert (await loop.sock_recv(raw, 200)).startswith(b"SPPR")
            assert station.refused == [reason]

    in_loop(scenario())


def in_loop(scenario: Any) -> None:
    async def limited() -> None:
        await asyncio.wait_for(scenario, PATIENCE_S)

    asyncio.run(limited())


def test_arrivals_are_those_of_the_kernel_and_not_of_the_reader() -> None:
    """A packet that waits has its time before it is read; the kernel may begin with that a little later."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("127.0.0.1", 0))
        clock = ArrivalClock(here.fileno())
        for _ in range(10_000):
            sent_ns = time.time_ns()
            here.sendto(b"x", here.getsockname())
            select.select([here], [], [], PATIENCE_S)
            there_ns = time.time_ns()
            here.recv(1)
            arrived_ns = clock.read_ns()
            assert sent_ns <= arrived_ns
            if arrived_ns <= there_ns:
                return
        raise AssertionError("the kernel never stated when a packet arrived")


def test_without_the_kernel_the_clock_is_the_process_own() -> None:
    read_end, write_end = socket.socketpair()
    with read_end, write_end:
        own = ArrivalClock(None)
        before_ns = time.monotonic_ns()
        assert before_ns <= own.read_ns() <= time.monotonic_ns()
