"""How busy the processors are: other work spoils what is measured."""

from __future__ import annotations

import psutil


class BusyMeter:
    """Measures from its making on."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Measure from now on."""
        self._before = psutil.cpu_times()

    def fraction(self) -> float:
        """Return which fraction of the processors' time was used."""
        before, after = self._before, psutil.cpu_times()
        total = sum(after) - sum(before)
        idle = after.idle + after.iowait - before.idle - before.iowait
        return min(max(1.0 - idle / total, 0.0), 1.0) if total > 0 else 0.0
