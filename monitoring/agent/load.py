"""Measures how busy this host is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from monitoring.agent.listening import listening_ports
from monitoring.reading import Load

if TYPE_CHECKING:
    from collections.abc import Collection


class LoadMeter:
    """Reads the kernel's counters; CPU is the mean over the time since the last reading.

    Args:
        slot_ports: Ports of the supervisor's worker slots; None if they are not known.
    """

    def __init__(self, slot_ports: Collection[int] | None = None) -> None:
        self._slot_ports = None if slot_ports is None else frozenset(slot_ports)
        psutil.cpu_percent(interval=None)  # the first call only sets the start of the first mean

    def read(self) -> Load:
        """Return the load since the last call."""
        cpu_percent = psutil.cpu_percent(interval=None)
        minute, _, _ = psutil.getloadavg()
        return Load(
            cpu=_share(cpu_percent),
            memory=_share(psutil.virtual_memory().percent),
            run_queue=minute / (psutil.cpu_count() or 1),
            slots_used=self._slots_used(),
            slots=None if self._slot_ports is None else len(self._slot_ports),
        )

    def _slots_used(self) -> int | None:
        if self._slot_ports is None:
            return None
        listening = listening_ports()
        return None if listening is None else len(self._slot_ports & listening)


def _share(percent: float) -> float:
    return min(1.0, max(0.0, percent / 100))
