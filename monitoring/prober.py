"""The agent's UDP socket: sends probes, answers those of others, turns answers into round-trip times."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING, cast

from monitoring.pending import PendingProbes, Sent
from monitoring.probe import Answer, Malformed, Probe, decode, encode_answer, encode_probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.coordinate import Coordinate
    from monitoring.reading import Address


class Prober(asyncio.DatagramProtocol):
    """Both ends of the probe protocol on one socket.

    Args:
        coordinate: Gives this host's coordinate at the moment of an answer.
        on_answer: Called with peer, round trip (ms) and the peer's coordinate.
        on_loss: Called with the peer whose probe stayed without an answer, and when that left (s).
        pending: Table of probes under way.
        clock_s: A clock that does not go back, in s.
    """

    def __init__(
        self,
        coordinate: Callable[[], Coordinate],
        on_answer: Callable[[str, float, Coordinate], None],
        on_loss: Callable[[str, float], None],
        pending: PendingProbes | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._coordinate = coordinate
        self._on_answer = on_answer
        self._on_loss = on_loss
        self._pending = PendingProbes() if pending is None else pending
        self._clock_s = clock_s
        self._transport: asyncio.DatagramTransport | None = None
        self.refused = 0
        """Datagrams that were malformed or that no probe had asked for."""
        self.answered = 0
        """Probes of others that were answered."""
        self.sent_bytes = 0
        """Payload of all datagrams that were sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket (called by asyncio)."""
        # a datagram endpoint's transport, though CPython 3.11 does not derive it from DatagramTransport
        self._transport = cast("asyncio.DatagramTransport", transport)

    def probe(self, peer: str, address: Address) -> None:
        """Send one probe to a peer."""
        if self._transport is None or self._transport.is_closing():
            return
        dimensions = len(self._coordinate().position_ms)
        nonce = secrets.randbits(64)  # a stranger who cannot see the probe cannot answer it
        datagram = encode_probe(Probe(nonce, dimensions))
        for sent in self._pending.add(nonce, Sent(peer, self._clock_s())):
            self._on_loss(sent.peer, sent.sent_s)
        self._transport.sendto(datagram, (address.host, address.port))
        self.sent_bytes += len(datagram)

    def expire(self) -> None:
        """Count the probes whose time is over as lost."""
        for sent in self._pending.expire(self._clock_s()):
            self._on_loss(sent.peer, sent.sent_s)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a probe, or match an answer (called by asyncio)."""
        now_s = self._clock_s()  # first of all: whatever is done before would count as delay
        message = decode(data)
        if isinstance(message, Malformed):
            self.refused += 1
        elif isinstance(message, Probe):
            self._answer(message, addr)
        else:
            self._match(message, now_s)

    def error_received(self, exc: Exception) -> None:
        """Leave a socket error to the time-out of its probe: an unreachable peer is a lost probe."""

    def _answer(self, probe: Probe, sender: tuple[str, int]) -> None:
        coordinate = self._coordinate()
        if probe.dimensions != len(coordinate.position_ms) or self._transport is None:
            self.refused += 1
            return
        datagram = encode_answer(Answer(probe.nonce, coordinate))
        self._transport.sendto(datagram, sender)
        self.sent_bytes += len(datagram)
        self.answered += 1

    def _match(self, answer: Answer, now_s: float) -> None:
        sent = self._pending.take(answer.nonce)
        if sent is None:
            self.refused += 1
            return
        self._on_answer(sent.peer, 1000 * (now_s - sent.sent_s), answer.coordinate)
