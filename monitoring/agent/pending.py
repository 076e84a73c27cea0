"""Keeps the probes that wait for their answer, bounded in number and in time."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    """A probe on its way: to whom, and when it left (s, a clock that does not go back)."""

    peer: str
    sent_s: float


class PendingProbes:
    """Table of nonce -> probe. Every probe ends once: answered or lost.

    Args:
        timeout_s: Age at which a probe is lost.
        capacity: Most probes that wait at a time; one more makes the oldest lost.
    """

    def __init__(self, timeout_s: float = 3.0, capacity: int = 64) -> None:
        self._timeout_s = timeout_s
        self._capacity = capacity
        self._waiting: dict[int, Sent] = {}

    def add(self, nonce: int, sent: Sent) -> tuple[Sent, ...]:
        """Remember a probe that leaves now.

        Returns:
            Probes that are lost because the table was full.
        """
        lost = []
        while len(self._waiting) >= self._capacity:
            lost.append(self._waiting.pop(next(iter(self._waiting))))
        self._waiting[nonce] = sent
        return tuple(lost)

    def take(self, nonce: int, now_s: float) -> Sent | None:
        """Remove the probe that an answer belongs to; None for a forged, repeated or late answer.

        A late one may come before `expire` was called: while the agent stood still its time went on.
        """
        sent = self._waiting.get(nonce)
        if sent is None or now_s >= self._end_s(sent):
            return None
        return self._waiting.pop(nonce)

    def expire(self, now_s: float) -> tuple[Sent, ...]:
        """Remove and return the probes without an answer in time."""
        late = [nonce for nonce, sent in self._waiting.items() if now_s >= self._end_s(sent)]
        return tuple(self._waiting.pop(nonce) for nonce in late)

    def due_s(self) -> float:
        """Return the time at which the next probe will be lost, s; infinite if none waits."""
        oldest = next(iter(self._waiting.values()), None)
        return math.inf if oldest is None else self._end_s(oldest)

    def _end_s(self, sent: Sent) -> float:
        return sent.sent_s + self._timeout_s

    def __contains__(self, nonce: int) -> bool:
        return nonce in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)
