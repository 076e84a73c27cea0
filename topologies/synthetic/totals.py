"""What operators count, and how the counts travel to the sinks: with the end markers."""

from __future__ import annotations

import json
from typing import Any

Tally = dict[str, Any]


class OperatorTotals:
    """Counts of measured tuples of one operator, and of all operators before it once their markers have come.

    Args:
        component: Its component.
        awaited: Streams whose end markers have to come before its own goes on.
    """

    def __init__(self, component: str, awaited: tuple[int, ...]) -> None:
        self._component = component
        self._awaited = set(awaited)
        self._sent: dict[int, list[int]] = {}
        self._received: dict[int, list[int]] = {}
        self._before: dict[str, Tally] = {}
        self.skipped = 0
        self.replayed = 0
        self.unwritten = 0

    @property
    def ended(self) -> bool:
        """Whether all markers have come."""
        return not self._awaited

    def count_sent(self, stream: int, size_bytes: int) -> None:
        """Count a tuple that goes out."""
        counts = self._sent.setdefault(stream, [0, 0])
        counts[0] += 1
        counts[1] += size_bytes

    def count_received(self, stream: int, at_us: int) -> None:
        """Count a tuple that came, by unix microseconds."""
        counts = self._received.setdefault(stream, [0, at_us, at_us])
        counts[0] += 1
        counts[2] = at_us

    def marker(self, stream: int, load: str) -> bool:
        """Take an end marker; return whether it was the last one that was awaited."""
        self._before |= json.loads(load)
        waiting = bool(self._awaited)
        self._awaited.discard(stream)
        return waiting and not self._awaited

    def load(self) -> str:
        """Return the counts as `by_component` reads them."""
        own = {
            "sent": self._sent,
            "received": self._received,
            "skipped": self.skipped,
            "replayed": self.replayed,
            "unwritten": self.unwritten,
        }
        return json.dumps(self._before | {self._component: own}, separators=(",", ":"))


def by_component(load: str) -> dict[str, Tally]:
    """Read counts by component.

    `sent` {stream: [tuples, bytes]}, `received` {stream: [tuples, first, last]}: streams are numbers again,
    first and last arrival are unix microseconds. `skipped`: tuples that a source was too late for;
    `replayed`: tuples that a source sent again, counted among those sent;
    `unwritten`: arrivals of a sink that may not be in Redis.
    """
    read: dict[str, Tally] = json.loads(load)
    for tally in read.values():
        for key in ("sent", "received"):
            tally[key] = {int(stream): counts for stream, counts in tally[key].items()}
    return read
