"""The end of a train that measures: allows one train at a time, and takes the times of its packets."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from monitoring.agent.bandwidth.train_messages import Ask, Grant, Packet, Result

TIMEOUT_S = 3.0
"""Time after a grant in which its train has to arrive, as an answer to a probe has."""

PAUSE_S = 0.5
"""Least time between two grants, to whomever: so many trains at most arrive here, and are answered."""


@dataclass(slots=True)
class _Expected:
    """The train that may arrive now."""

    sender: tuple[str, int]
    grant: Grant
    until_s: float
    disordered: int = 0
    next_position: int = 0
    arrivals_ns: list[int] = field(default_factory=list)


class TrainReceiver:
    """Allows trains one after the other: two at once would measure each other.

    All times named `now_s` are of one clock that does not go back; arrivals are in ns of any clock.
    """

    def __init__(self) -> None:
        self._expected: _Expected | None = None
        self._granted_s = -math.inf

    def take_ask(self, ask: Ask, sender: tuple[str, int], now_s: float) -> Grant | None:
        """Allow a train, unless another one is expected or was allowed just before."""
        expected = self._expected
        if (expected is not None and now_s < expected.until_s) or now_s < self._granted_s + PAUSE_S:
            return None
        grant = Grant(ask.nonce, ask.packets, secrets.randbits(64))
        self._expected = _Expected(sender, grant, now_s + TIMEOUT_S)
        self._granted_s = now_s
        return grant

    def take_packet(
        self, packet: Packet, sender: tuple[str, int], arrived_ns: int, now_s: float
    ) -> Result | None:
        """Note a packet.

        Returns:
            How the train arrived, with its last packet; None before.

        Raises:
            ValueError: With the reason, if no such packet is expected.
        """
        expected = self._expected
        if expected is None or (packet.token, sender) != (expected.grant.token, expected.sender):
            raise ValueError("packet of no train that was allowed")
        if now_s >= expected.until_s or packet.position >= expected.grant.packets:
            raise ValueError("packet that is late or beyond its train")
        if packet.position < expected.next_position:  # a later one, or this one, was here before
            expected.disordered += 1
            return None
        expected.next_position = packet.position + 1
        expected.arrivals_ns.append(arrived_ns)
        if expected.next_position < expected.grant.packets:
            return None
        self._expected = None
        return Result(
            expected.grant.nonce,
            expected.grant.packets,
            len(expected.arrivals_ns),
            expected.disordered,
            *_spread_and_gap_ns(expected.arrivals_ns),
        )


def _spread_and_gap_ns(arrivals_ns: list[int]) -> tuple[int, int]:
    """Return the time from the first arrival to the last one, and the median time between two."""
    gaps_ns = [later - earlier for earlier, later in pairwise(arrivals_ns)]
    if not gaps_ns or min(gaps_ns) < 0:  # the kernel's clock was set back meanwhile
        return 0, 0
    return sum(gaps_ns), round(median(gaps_ns))
