"""Bounds what trains send: a share of a bandwidth, in every minute."""

from __future__ import annotations

import math
from collections import deque

MINUTE_S = 60.0


class ByteBudget:
    """Says when so many bytes may be sent; all times in s of one clock that does not go back.

    Two rules hold. No minute that ends with something being sent has more bytes than the share of the
    bandwidth that is stated then: a bucket of tokens alone would, after the bandwidth has become less. And
    what was sent is paid off at that rate before more is sent, as by a bucket that holds one train, lest the
    bytes of a minute go out at once.

    Args:
        share: Of the bandwidth, above 0.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._sent: deque[tuple[float, int]] = deque()
        self._paid_s = -math.inf

    def minute_bytes(self, bytes_per_s: float) -> float:
        """Return the most bytes of a minute at a bandwidth."""
        return self._share * bytes_per_s * MINUTE_S

    def wait_s(self, size: int, bytes_per_s: float, now_s: float) -> float:
        """Return how long to wait until so many bytes may be sent, s; infinite if they never may.

        Args:
            size: Bytes.
            bytes_per_s: The bandwidth of which there is a share.
            now_s: The time.
        """
        self._forget(now_s)
        room = self.minute_bytes(bytes_per_s) - size
        if room < 0:
            return math.inf
        room -= sum(sent for _, sent in self._sent)
        free_s = now_s
        for sent_s, sent in self._sent:
            if room >= 0:
                break
            room += sent
            free_s = sent_s + MINUTE_S
        return max(free_s, self._paid_s) - now_s

    def charge(self, size: int, bytes_per_s: float, now_s: float) -> None:
        """Note that so many bytes are sent."""
        self._sent.append((now_s, size))
        self._paid_s = max(self._paid_s, now_s) + size / (self._share * bytes_per_s)

    def _forget(self, now_s: float) -> None:
        while self._sent and self._sent[0][0] + MINUTE_S <= now_s:
            self._sent.popleft()
