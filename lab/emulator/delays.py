"""The delay that the emulated wide area adds to a packet.

The truncated normal deviate is drawn by inversion: L. Devroye, "Non-Uniform Random Variate Generation", 1986,
section II.2.
"""

from __future__ import annotations

import random
from statistics import NormalDist

_NORMAL = NormalDist()


class DelayTable:
    """One-way delays between sites, with jitter and loss.

    Jitter is a normal deviate cut off symmetrically at three standard deviations and at the delay itself, so
    a packet never arrives before it was sent and the mean stays the stated delay.
    """

    def __init__(
        self, delays_ms: list[list[float]], jitter_ms: float, loss: list[list[float]], seed: int
    ) -> None:
        """Take delays and probabilities of loss (n_sites, n_sites), and the jitter's standard deviation."""
        self._delay_s = [[delay / 1e3 for delay in row] for row in delays_ms]
        self._jitter_s = jitter_ms / 1e3
        self._loss = loss
        self._random = random.Random(seed)  # noqa: S311 - emulation, not cryptography

    def set_delay(self, a: int, b: int, delay_ms: float) -> None:
        """Set the one-way delay between two sites, both ways."""
        self._delay_s[a][b] = self._delay_s[b][a] = delay_ms / 1e3

    def is_lost(self, source: int, target: int) -> bool:
        """Decide whether the next packet from one site to another is dropped."""
        loss = self._loss[source][target]
        return loss > 0.0 and self._random.random() < loss

    def draw_s(self, source: int, target: int) -> float:
        """Return the delay in seconds of the next packet from one site to another."""
        delay = self._delay_s[source][target]
        limit = min(3.0 * self._jitter_s, delay)
        if limit <= 0.0:
            return delay
        # by inversion: drawing until a deviate falls within a narrow limit could take for ever
        below = _NORMAL.cdf(-limit / self._jitter_s)
        quantile = _NORMAL.inv_cdf(below + (1.0 - 2.0 * below) * self._random.random())
        return delay + max(-limit, min(limit, quantile * self._jitter_s))
