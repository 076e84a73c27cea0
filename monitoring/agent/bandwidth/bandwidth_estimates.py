"""What the path to each peer carries, by the trains that arrived whole.

Packets that leave back to back arrive as far apart as the narrowest link of their path takes for each, so
that the bytes behind the first one over the time between first and last arrival are its rate
(C. Dovrolis, P. Ramanathan, D. Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology",
IEEE/ACM Transactions on Networking 12(6), 2004). What others send in between makes a train longer, never the
link wider: so the upper half of the trains counts, and of that the median, as a packet that waits on its way
for the next ones makes a train shorter.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from monitoring.reading import Bandwidth

LEAST_TRAINS = 5
"""Trains behind an estimate that is published."""

KEPT_TRAINS = 9
"""Of a peer; so a link that became narrower shows after seven trains, one that became wider after three."""

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
        return _upper_median([rate for _, rate in fresh]) if len(fresh) >= _CAUTIOUS_TRAINS else None

    def lowest(self, now_s: float) -> float | None:
        """Return the least of these over all peers, bytes/s; None if nothing is known."""
        known = (self.cautious(peer, now_s) for peer in tuple(self._trains))
        return min((each for each in known if each is not None), default=None)

    def look(self, peer: str, now_s: float) -> Bandwidth | None:
        """Return the estimate of a peer; None without enough trains."""
        fresh = self._fresh(peer, now_s)
        if len(fresh) < LEAST_TRAINS:
            return None
        return Bandwidth(_upper_median([rate for _, rate in fresh]), now_s - fresh[-1][0])

    def _fresh(self, peer: str, now_s: float) -> deque[tuple[float, float]]:
        trains = self._trains.get(peer, deque())
        while trains and trains[0][0] <= now_s - LIFETIME_S:
            trains.popleft()
        if not trains:
            self._trains.pop(peer, None)
        return trains


def _upper_median(rates: list[float]) -> float:
    return median(sorted(rates)[len(rates) // 2 :])
