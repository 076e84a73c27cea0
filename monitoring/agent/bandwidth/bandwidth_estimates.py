"""What the path to each peer carries, by the trains that arrived whole.

Packets that leave back to back arrive as far apart as the narrowest link of their path takes for each
(C. Dovrolis, P. Ramanathan, D. Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology",
IEEE/ACM Transactions on Networking 12(6), 2004). Packets of others in between, or a last packet that is late,
make a train longer; a first packet that has to wait for the next ones makes it shorter.
"""

from __future__ import annotations

from collections import deque
from statistics import median, median_high
from typing import TYPE_CHECKING

from monitoring.reading import Bandwidth

if TYPE_CHECKING:
    from monitoring.agent.bandwidth.train_messages import Result

LEAST_TRAINS = 5
"""Trains behind an estimate that is published."""

KEPT_TRAINS = 9
"""Of a peer; so a link that became another shows after five trains."""

LIFETIME_S = 1_800.0
"""Age at which a train counts no more."""

_CAUTIOUS_TRAINS = 2
"""Trains that say that a path is narrow: one alone may have met a host that stood still."""


class BandwidthEstimates:
    """Rates of the last trains by peer; all times in s of one clock that does not go back."""

    def __init__(self) -> None:
        self._trains: dict[str, deque[tuple[float, float]]] = {}

    def add(self, peer: str, bytes_per_s: float, now_s: float) -> None:
        """Note the rate of a train that arrived whole."""
        self._trains.setdefault(peer, deque(maxlen=KEPT_TRAINS)).append((now_s, bytes_per_s))

    def trains(self, peer: str, now_s: float) -> int:
        """Return the number of a peer's trains that count."""
        return len(self._fresh(peer, now_s))

    def cautious(self, peer: str, now_s: float) -> float | None:
        """Return what the trains to a peer say so far, bytes/s, before it is good enough to be published."""
        fresh = self._fresh(peer, now_s)
        return median_high(rate for _, rate in fresh) if len(fresh) >= _CAUTIOUS_TRAINS else None

    def lowest(self, now_s: float) -> float | None:
        """Return the least of these over all peers, bytes/s; None if nothing is known."""
        known = (self.cautious(peer, now_s) for peer in tuple(self._trains))
        return min((each for each in known if each is not None), default=None)

    def look(self, peer: str, now_s: float) -> Bandwidth | None:
        """Return the estimate of a peer; None without enough trains."""
        fresh = self._fresh(peer, now_s)
        if len(fresh) < LEAST_TRAINS:
            return None
        return Bandwidth(median(rate for _, rate in fresh), now_s - fresh[-1][0])

    def _fresh(self, peer: str, now_s: float) -> deque[tuple[float, float]]:
        trains = self._trains.get(peer, deque())
        while trains and trains[0][0] <= now_s - LIFETIME_S:
            trains.popleft()
        if not trains:
            self._trains.pop(peer, None)
        return trains


def train_rate(result: Result, packet_bytes: int) -> float:
    """Return the rate of a train, bytes/s.

    It is the lower of two: that of the whole train, and that of the median packet. A train of which some
    packets were held back and came at once is too short as a whole, while its median is right; on a path that
    hands over packets in bunches most of them come at once, while the whole is right.

    Args:
        result: How the train arrived: whole, and not in no time.
        packet_bytes: What each packet takes, with headers.
    """
    return packet_bytes * 1e9 / max(result.spread_ns / (result.packets - 1), result.gap_ns)
