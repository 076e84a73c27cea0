"""How busy this host is."""

from __future__ import annotations

from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Load:
    """Shares of the whole host that are in use, 0 to 1."""

    cpu: float
    memory: float


class LoadMeter:
    """Reads the kernel's counters; CPU is the mean over the time since the last reading."""

    def __init__(self) -> None:
        psutil.cpu_percent(interval=None)  # the first call only sets the start of the first mean

    def read(self) -> Load:
        """Return the load since the last call."""
        cpu_percent = psutil.cpu_percent(interval=None)
        return Load(_share(cpu_percent), _share(psutil.virtual_memory().percent))


def _share(percent: float) -> float:
    return min(1.0, max(0.0, percent / 100))
