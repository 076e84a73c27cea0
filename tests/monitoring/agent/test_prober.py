"""Rules of probing over real sockets on the loopback interface."""

from __future__ import annotations

import asyncio
import math
import socket
from typing import TYPE_CHECKING, Any

from monitoring.agent.pending import PendingProbes
from monitoring.agent.probe import Answer, Probe, Refusal, decode, encode_answer, encode_probe
from monitoring.agent.prober import Prober
from monitoring.coordinate import Coordinate
from monitoring.reading import Address

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HERE = Coordinate((1.0, 2.0, 3.0), 0.5, 0.25)
PATIENCE_S = 30.0


class Station:
    """A prober with its socket and what it received."""

    def __init__(self, clock_s: Callable[[], float], place: Coordinate = HERE) -> None:
        self.answers: asyncio.Queue[tuple[str, float, Coordinate]] = asyncio.Queue()
        self.losses: list[str] = []
        self.refused: list[tuple[Refusal, str]] = []
        self.prober = Prober(
            lambda: place,
            lambda *answer: self.answers.put_nowait(answer),
            lambda peer, _sent_s: self.losses.append(peer),
            PendingProbes(timeout_s=3.0, capacity=2),
            clock_s,
            on_refusal=lambda _sender, refusal, reason: self.refused.append((refusal, reason)),
        )

    async def open(self) -> Address:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(
            lambda: self.prober, local_addr=("127.0.0.1", 0)
        )
        return Address(*self.transport.get_extra_info("sockname"))


def in_loop(scenario: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(scenario(), PATIENCE_S)

    asyncio.run(limited())


async def exchange(raw: socket.socket, datagram: bytes, to: Address) -> bytes:
    """Send a datagram and wait for one back."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendto(raw, datagram, (to.host, to.port))
    return await loop.sock_recv(raw, 200)


def raw_socket() -> socket.socket:
    raw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    raw.bind(("127.0.0.1", 0))
    raw.setblocking(False)
    return raw


def test_an_answer_brings_round_trip_and_coordinate(fake_clock: Any) -> None:
    async def scenario() -> None:
        there = Coordinate((-9.0, 8.0, 7.0), 6.0, 0.125)
        a, b = Station(fake_clock), Station(fake_clock, there)
        await a.open()
        address = await b.open()
        a.prober.probe("b", address)
        fake_clock.now_s = 0.25  # the answer is read in a later turn of the loop
        assert await a.answers.get() == ("b", 250.0, there)
        assert (a.prober.refusals, b.prober.refusals, b.prober.answered) == ({}, {}, 1)
        assert (a.prober.sent, a.prober.returned, a.prober.lost) == (1, 1, 0)

    in_loop(scenario)


def test_a_probe_without_an_answer_is_lost_after_its_time_and_once(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        await a.open()
        with raw_socket() as deaf:
            a.prober.probe("deaf", Address(*deaf.getsockname()))
            fake_clock.now_s = 2.9
            a.prober.expire()
            assert a.losses == []
            fake_clock.now_s = 3.0
            a.prober.expire()
            a.prober.expire()
            assert a.losses == ["deaf"]
            assert (a.prober.sent, a.prober.returned, a.prober.lost) == (1, 0, 1)

    in_loop(scenario)


def test_probes_beyond_the_table_push_out_the_oldest(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        await a.open()
        with raw_socket() as deaf:
            for peer in ("p1", "p2", "p3"):
                a.prober.probe(peer, Address(*deaf.getsockname()))
        assert a.losses == ["p1"]
        assert (a.prober.sent, a.prober.lost) == (3, 1)

    in_loop(scenario)


def test_forged_repeated_and_late_answers_teach_nothing(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        loop = asyncio.get_running_loop()
        with raw_socket() as peer:
            a.prober.probe("peer", Address(*peer.getsockname()))
            probe = decode(await loop.sock_recv(peer, 200))
            assert isinstance(probe, Probe)
            to = (address.host, address.port)
            forged = encode_answer(Answer(probe.nonce ^ 1, Coordinate((9.0, 9.0, 9.0), 0.1, 0.0)))
            honest = encode_answer(Answer(probe.nonce, HERE))
            for datagram in (forged, honest, honest):
                await loop.sock_sendto(peer, datagram, to)
            await exchange(peer, encode_probe(Probe(1, 3)), address)  # whatever came before has been read
            assert a.answers.qsize() == 1
            assert a.answers.get_nowait()[2] == HERE
            assert a.prober.refusals == {Refusal.UNASKED: 2}

            a.prober.probe("peer", Address(*peer.getsockname()))
            late = decode(await loop.sock_recv(peer, 200))
            assert isinstance(late, Probe)
            fake_clock.now_s = 10.0
            a.prober.expire()
            await loop.sock_sendto(peer, encode_answer(Answer(late.nonce, HERE)), to)
            await exchange(peer, encode_probe(Probe(2, 3)), address)
            assert a.answers.empty()
            assert a.losses == ["peer"]

    in_loop(scenario)


def test_an_answer_that_is_no_coordinate_of_this_space_is_refused_by_its_reason(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        loop = asyncio.get_running_loop()
        with raw_socket() as peer:
            for place in (Coordinate((math.nan, 0.0, 0.0), 0.5, 0.1), Coordinate((1.0, 2.0), 0.5, 0.1)):
                a.prober.probe("peer", Address(*peer.getsockname()))
                probe = decode(await loop.sock_recv(peer, 200))
                assert isinstance(probe, Probe)
                answer = encode_answer(Answer(probe.nonce, place))
                await loop.sock_sendto(peer, answer, (address.host, address.port))
            version_2 = bytearray(encode_probe(Probe(1, 3)))
            version_2[4] = 2
            await loop.sock_sendto(peer, bytes(version_2), (address.host, address.port))
            await exchange(peer, encode_probe(Probe(2, 3)), address)
        assert a.prober.refusals == {Refusal.IMPOSSIBLE: 1, Refusal.DIMENSIONS: 1, Refusal.VERSION: 1}
        assert a.refused == [
            (Refusal.IMPOSSIBLE, "coordinate: a number is not finite"),
            (Refusal.DIMENSIONS, "2 dimensions"),
            (Refusal.VERSION, "version 2 instead of 1"),
        ]

    in_loop(scenario)


def test_an_answer_of_another_coordinate_space_leaves_its_probe_unanswered(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        loop = asyncio.get_running_loop()
        with raw_socket() as peer:
            a.prober.probe("peer", Address(*peer.getsockname()))
            probe = decode(await loop.sock_recv(peer, 200))
            assert isinstance(probe, Probe)
            answer = encode_answer(Answer(probe.nonce, Coordinate((1.0, 2.0), 0.5, 0.1)))
            await loop.sock_sendto(peer, answer, (address.host, address.port))
            await exchange(peer, encode_probe(Probe(2, 3)), address)
        assert a.answers.empty()
        assert a.prober.returned == 0
        fake_clock.now_s = a.prober.due_s()
        a.prober.expire()
        assert a.losses == ["peer"]

    in_loop(scenario)


def test_an_answer_that_was_waiting_while_the_agent_stood_still_is_late(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        loop = asyncio.get_running_loop()
        with raw_socket() as peer:
            a.prober.probe("peer", Address(*peer.getsockname()))
            probe = decode(await loop.sock_recv(peer, 200))
            assert isinstance(probe, Probe)
            fake_clock.now_s = 30.0
            await loop.sock_sendto(
                peer, encode_answer(Answer(probe.nonce, HERE)), (address.host, address.port)
            )
            await exchange(peer, encode_probe(Probe(2, 3)), address)
        assert a.answers.empty()
        assert a.prober.refusals == {Refusal.UNASKED: 1}

    in_loop(scenario)


def test_an_agent_does_not_answer_itself(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        with raw_socket() as peer:
            a.prober.probe("peer", address)  # it publishes our address, or one that leads here
            await exchange(peer, encode_probe(Probe(2, 3)), address)
        assert a.answers.empty()
        assert a.prober.answered == 1  # that of the other
        assert a.prober.refusals == {Refusal.OWN: 1}
        assert a.refused == [(Refusal.OWN, "probe of this agent's own")]
        fake_clock.now_s = 3.0
        a.prober.expire()
        assert a.losses == ["peer"]

    in_loop(scenario)


def test_only_well_formed_probes_of_the_same_space_are_answered(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        with raw_socket() as peer:
            for datagram in (b"", b"hello", encode_probe(Probe(5, 2)), encode_probe(Probe(6, 3))[:-1]):
                await asyncio.get_running_loop().sock_sendto(peer, datagram, (address.host, address.port))
            answer = decode(await exchange(peer, encode_probe(Probe(7, 3)), address))
            assert answer == Answer(7, HERE)  # the first that comes back: the others got none
            assert a.prober.answered == 1
            assert a.prober.refusals == {Refusal.MALFORMED: 3, Refusal.DIMENSIONS: 1}

    in_loop(scenario)


def test_nonces_do_not_repeat(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        await a.open()
        with raw_socket() as peer:
            nonces = set()
            for _ in range(50):
                a.prober.probe("peer", Address(*peer.getsockname()))
                message = decode(await asyncio.get_running_loop().sock_recv(peer, 200))
                assert isinstance(message, Probe)
                nonces.add(message.nonce)
            assert len(nonces) == 50

    in_loop(scenario)


def test_a_closed_socket_sends_nothing(fake_clock: Any) -> None:
    async def scenario() -> None:
        a = Station(fake_clock)
        address = await a.open()
        a.transport.close()
        a.prober.probe("b", address)
        fake_clock.now_s = 10.0
        a.prober.expire()
        assert a.losses == []

    in_loop(scenario)
