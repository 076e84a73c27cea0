"""Measures how busy this host is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from monitoring.reading import Load

if TYPE_CHECKING:
    from collections.abc import Collection


_TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_LISTEN = "0A"


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


def listening_ports(tables: tuple[Path, ...] = _TABLES) -> frozenset[int] | None:
    """Return the TCP ports of this host, in its network namespace, on which a process listens.

    Read from the kernel's own table: psutil's list of connections also looks for the process behind each
    socket, which means every open file of every process and takes longer than all else that an agent does.

    Args:
        tables: Files in the form of Linux' /proc/net/tcp; those that are not there count as empty.

    Returns:
        None on a system without such tables.
    """
    ports = set()
    found = False
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:  # such as IPv6, switched off
            continue
        found = True
        for line in lines:
            _, local, _, state, *_ = line.split(maxsplit=4)
            if state == _LISTEN:
                ports.add(int(local.rpartition(":")[2], 16))
    return frozenset(ports) if found else None
