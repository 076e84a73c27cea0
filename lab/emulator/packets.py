"""Packets on their way through the emulated wide area."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class PacketQueue:
    """A bounded heap of packets ordered by the time at which they arrive.

    Packets of one (source, target) pair keep their order whatever their delays, as on a single path.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._heap: list[tuple[float, int, int, bytes]] = []
        self._last_due_s: dict[tuple[int, int], float] = {}
        self._sequence = 0
        self._bytes = 0
        self._limit_bytes = limit_bytes

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, due_s: float, source: int, target: int, packet: bytes) -> bool:
        """Queue a packet for a target; return False, and drop it, when the queue is full."""
        if self._bytes + len(packet) > self._limit_bytes:
            return False
        pair = (source, target)
        due_s = max(due_s, self._last_due_s.get(pair, due_s))
        self._last_due_s[pair] = due_s
        self._sequence += 1
        self._bytes += len(packet)
        heapq.heappush(self._heap, (due_s, self._sequence, target, packet))
        return True

    def next_due_s(self) -> float | None:
        """Return when the next packet arrives, or None when no packet is on its way."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_s: float) -> Iterator[tuple[int, bytes]]:
        """Take out the packets due by now, as (target, packet), earliest first."""
        heap = self._heap
        while heap and heap[0][0] <= now_s:
            _due, _sequence, target, packet = heapq.heappop(heap)
            self._bytes -= len(packet)
            yield target, packet
