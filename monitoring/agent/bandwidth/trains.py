"""Both ends of trains at one agent: every agent receives them, and sends them if it has a share for that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from monitoring.agent.bandwidth.bandwidth_meter import BandwidthMeter
from monitoring.agent.bandwidth.train_messages import (
    Ask,
    Grant,
    Packet,
    decode,
    encode_grant,
    encode_result,
)
from monitoring.agent.bandwidth.train_receiver import TrainReceiver
from monitoring.agent.probe import Malformed, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from formats.log import Log
    from monitoring.agent.bandwidth.train_messages import Result
    from monitoring.reading import Address

Outgoing = tuple[bytes, tuple[str, int]]
"""A datagram, and the address that it is for."""


@dataclass(frozen=True, slots=True)
class TrainFigures:
    """Counts of an agent's trains since its start.

    Attributes:
        ends: Own trains by how they ended.
        sent_bytes: Of own trains, with IP headers and what peers send back for them.
        answered: Trains of others whose result was sent.
    """

    ends: Mapping[str, int] = field(default_factory=dict)
    sent_bytes: int = 0
    answered: int = 0


class Trains:
    """Takes every message of trains that arrives.

    Args:
        knows: Says whether a numeric address is a known peer's.
        on_measured: Called with a peer and its address after a train to it that counted.
        meter: Sends trains; None if this agent sends none.
    """

    def __init__(
        self,
        knows: Callable[[str], bool],
        on_measured: Callable[[str, Address], None],
        meter: BandwidthMeter | None,
    ) -> None:
        self._knows = knows
        self._on_measured = on_measured
        self._receiver = TrainReceiver()
        self.meter = meter
        self._answered = 0

    @classmethod
    def of_share(
        cls,
        share: float | None,
        rng: Random,
        log: Log,
        *,
        knows: Callable[[str], bool],
        on_measured: Callable[[str, Address], None],
    ) -> Trains:
        """Make those of an agent with a share of bandwidth for its own trains, or None."""
        return cls(knows, on_measured, None if share is None else BandwidthMeter(share, rng, log))

    def figures(self) -> TrainFigures:
        """Return what was counted so far."""
        if self.meter is None:
            return TrainFigures(answered=self._answered)
        ends = {str(end): count for end, count in dict(self.meter.ends).items()}
        return TrainFigures(ends, self.meter.sent_bytes, self._answered)

    def take(
        self, datagram: bytes, sender: tuple[str, int], arrived_ns: int, now_s: float
    ) -> tuple[Outgoing, ...] | Malformed:
        """Take a datagram.

        Args:
            datagram: What arrived.
            sender: Where it came from.
            arrived_ns: When it arrived, ns of any clock.
            now_s: The time, s of a clock that does not go back.

        Returns:
            What is to be sent now; why the datagram is refused.
        """
        message = decode(datagram)
        try:
            match message:
                case Malformed():
                    return message
                case Ask():
                    return self._take_ask(message, sender, now_s)
                case Packet():
                    result = self._receiver.take_packet(message, sender, arrived_ns, now_s)
                    if result is None:
                        return ()
                    self._answered += 1
                    return ((encode_result(result), sender),)
                case _:
                    return self._take_own(message, now_s)
        except ValueError as error:
            return Malformed(str(error), Refusal.UNASKED)

    def _take_ask(self, ask: Ask, sender: tuple[str, int], now_s: float) -> tuple[Outgoing, ...] | Malformed:
        if not self._knows(sender[0]):
            return Malformed("asks for a train and is no known peer", Refusal.STRANGER)
        grant = self._receiver.take_ask(ask, sender, now_s)
        return () if grant is None else ((encode_grant(grant), sender),)

    def _take_own(self, message: Grant | Result, now_s: float) -> tuple[Outgoing, ...]:
        if self.meter is None:
            raise ValueError("answer to no train of this agent")
        if isinstance(message, Grant):
            packets, address = self.meter.take_grant(message, now_s)
            return tuple((packet, (address.host, address.port)) for packet in packets)
        measured = self.meter.take_result(message, now_s)
        if measured is not None:
            self._on_measured(*measured)
        return ()
