"""The agent's UDP socket: sends probes, answers those of others, turns answers into round-trip times."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from typing import TYPE_CHECKING, cast

from monitoring.agent.bandwidth.arrival_clock import ArrivalClock
from monitoring.agent.bandwidth.train_messages import is_of_train
from monitoring.agent.pending import PendingProbes, Sent
from monitoring.agent.probe import Answer, Malformed, Probe, Refusal, decode, encode_answer, encode_probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from monitoring.agent.bandwidth.trains import Outgoing, Trains
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
        on_refusal: Called with the sender and the reason when a datagram is refused.
        trains: Takes the messages of trains, which use the same socket.
    """

    def __init__(
        self,
        coordinate: Callable[[], Coordinate],
        on_answer: Callable[[str, float, Coordinate], None],
        on_loss: Callable[[str, float], None],
        pending: PendingProbes | None = None,
        clock_s: Callable[[], float] = time.monotonic,
        *,
        on_refusal: Callable[[str, Refusal, str], None] = lambda _sender, _refusal, _reason: None,
        trains: Trains | None = None,
    ) -> None:
        self._coordinate = coordinate
        self._on_answer = on_answer
        self._on_loss = on_loss
        self._pending = PendingProbes() if pending is None else pending
        self._clock_s = clock_s
        self._on_refusal = on_refusal
        self._trains = trains
        self._transport: asyncio.DatagramTransport | None = None
        self._arrivals = ArrivalClock(None)
        self.refusals: Counter[Refusal] = Counter()
        """Datagrams that were refused, by reason."""
        self.sent = 0
        """Own probes that were sent; each ends up among the returned or the lost ones."""
        self.returned = 0
        """Own probes that were answered."""
        self.lost = 0
        """Own probes without an answer in time."""
        self.answered = 0
        """Probes of others that were answered."""
        self.sent_bytes = 0
        """Payload of all probes and answers that were sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket (called by asyncio)."""
        # a datagram endpoint's transport, though CPython 3.11 does not derive it from DatagramTransport
        self._transport = cast("asyncio.DatagramTransport", transport)
        self._arrivals = ArrivalClock(transport.get_extra_info("socket").fileno())

    def probe(self, peer: str, address: Address) -> None:
        """Send one probe to a peer."""
        if self._transport is None or self._transport.is_closing():
            return
        dimensions = len(self._coordinate().position_ms)
        nonce = secrets.randbits(64)  # a stranger who cannot see the probe cannot answer it
        datagram = encode_probe(Probe(nonce, dimensions))
        for sent in self._pending.add(nonce, Sent(peer, self._clock_s())):
            self._lose(sent)
        self._transport.sendto(datagram, (address.host, address.port))
        self.sent += 1
        self.sent_bytes += len(datagram)

    def send(self, datagrams: Iterable[Outgoing]) -> None:
        """Send messages of trains, back to back."""
        if self._transport is None or self._transport.is_closing():
            return
        for datagram, address in datagrams:
            self._transport.sendto(datagram, address)

    def expire(self) -> None:
        """Count the probes whose time is over as lost."""
        for sent in self._pending.expire(self._clock_s()):
            self._lose(sent)

    def due_s(self) -> float:
        """Return the time of the clock at which a probe's time is over next, s; infinite if none waits."""
        return self._pending.due_s()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a probe, match an answer, or hand on what is of a train (called by asyncio)."""
        now_s = self._clock_s()  # first of all: whatever is done before would count as delay
        if self._trains is not None and is_of_train(data):
            outgoing = self._trains.take(data, addr, self._arrivals.read_ns(), now_s)
            if isinstance(outgoing, Malformed):
                self._refuse(addr, outgoing.refusal, outgoing.reason)
            else:
                self.send(outgoing)
            return
        message = decode(data)
        if isinstance(message, Malformed):
            self._refuse(addr, message.refusal, message.reason)
        elif isinstance(message, Probe):
            self._answer(message, addr)
        else:
            self._match(message, addr, now_s)

    def error_received(self, exc: Exception) -> None:
        """Leave a socket error to the time-out of its probe: an unreachable peer is a lost probe."""

    def _answer(self, probe: Probe, sender: tuple[str, int]) -> None:
        coordinate = self._coordinate()
        if self._transport is None:
            return
        if probe.nonce in self._pending:  # our own answer would make the peer's delay about 0
            self._refuse(sender, Refusal.OWN, "probe of this agent's own")
            return
        if probe.dimensions != len(coordinate.position_ms):
            self._refuse(sender, Refusal.DIMENSIONS, f"{probe.dimensions} dimensions")
            return
        datagram = encode_answer(Answer(probe.nonce, coordinate))
        # counted first: a scrape after the answer then finds it counted
        self.sent_bytes += len(datagram)
        self.answered += 1
        self._transport.sendto(datagram, sender)

    def _match(self, answer: Answer, sender: tuple[str, int], now_s: float) -> None:
        dimensions = len(answer.coordinate.position_ms)
        if dimensions != len(self._coordinate().position_ms):
            self._refuse(sender, Refusal.DIMENSIONS, f"{dimensions} dimensions")
            return
        sent = self._pending.take(answer.nonce, now_s)
        if sent is None:
            self._refuse(sender, Refusal.UNASKED, "answer to no probe under way")
            return
        self.returned += 1
        self._on_answer(sent.peer, 1000 * (now_s - sent.sent_s), answer.coordinate)

    def _lose(self, sent: Sent) -> None:
        self.lost += 1
        self._on_loss(sent.peer, sent.sent_s)

    def _refuse(self, sender: tuple[str, int], refusal: Refusal, reason: str) -> None:
        self.refusals[refusal] += 1
        self._on_refusal(sender[0], refusal, reason)
