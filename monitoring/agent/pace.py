"""Spaces the probes: quickly at first, then once per interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


class Pace:
    """Delays between probes; their rate does not depend on the number of hosts.

    Args:
        interval_s: Mean time between probes once the start-up phase is over, s.
        rng: Spreads each delay by 10 % either way, lest all hosts probe in step.
        startup_probes: Length of the start-up phase in probes sent, so that waiting for the first peer
            does not use it up.
        startup_rate: How many times faster probes follow each other in that phase.
    """

    def __init__(
        self, interval_s: float, rng: Random, startup_probes: int = 120, startup_rate: float = 4.0
    ) -> None:
        self._interval_s = interval_s
        self._rng = rng
        self._remaining = startup_probes
        self._startup_rate = startup_rate

    def next_delay_s(self, *, sent: bool) -> float:
        """Return the time to wait, s.

        Args:
            sent: Whether a probe has just left.
        """
        if sent and self._remaining > 0:
            self._remaining -= 1
        rate = self._startup_rate if self._remaining > 0 else 1.0
        return self._interval_s / rate * self._rng.uniform(0.9, 1.1)
