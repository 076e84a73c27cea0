"""What only successive readings of a host show: clocks that jump, and two agents that publish for one host.

Nothing of it enters a plan: the shim tells how old a reading is, whatever the host's own clock says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.fault_kinds import FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.readings import NodeReading

# Clocks that somebody keeps differ by less.
LARGEST_OFFSET_S = 300.0
# An agent counts from 1 at its start, so that one step back is a restart; two so close together are not.
RESTARTS_WITHIN_S = 300.0
_LEAST_CLOCKS = 3


@dataclass(frozen=True, slots=True)
class _Trace:
    """The last reading of a host, and when its sequence went back lately."""

    sequence: int
    time_s: float
    back_s: tuple[float, ...]


class ReadingWatch:
    """Follows the readings of all hosts from round to round."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}

    def observe(self, readings: Mapping[str, NodeReading], now_s: float) -> dict[FaultKind, tuple[str, ...]]:
        """Return what is odd about the readings of a round: phrases by kind of oddity.

        Args:
            readings: Believed readings by host.
            now_s: Time of the round, s.
        """
        found: dict[FaultKind, list[str]] = {
            FaultKind.CLOCKS_OFF: _clocks_off(readings),
            FaultKind.CLOCKS_BACK: [],
            FaultKind.TWO_AGENTS: [],
        }
        traces: dict[str, _Trace] = {}
        for host, reading in readings.items():
            last = self._traces.get(host)
            back_s: tuple[float, ...] = ()
            if last is not None:
                back_s = tuple(each for each in last.back_s if now_s - each <= RESTARTS_WITHIN_S)
                if reading.sequence < last.sequence:
                    back_s = (*back_s, now_s)
                if reading.time_s < last.time_s:
                    found[FaultKind.CLOCKS_BACK].append(f"clock of {host} went back")
            if len(back_s) > 1:
                found[FaultKind.TWO_AGENTS].append(
                    f"two agents publish for {host}, or its agent restarts again and again"
                )
            traces[host] = _Trace(reading.sequence, reading.time_s, back_s)
        self._traces = traces
        return {kind: tuple(phrases) for kind, phrases in found.items() if phrases}


def _clocks_off(readings: Mapping[str, NodeReading]) -> list[str]:
    """Name the hosts whose clock is far from the others' at the time of the round."""
    if len(readings) < _LEAST_CLOCKS:
        return []
    clock_s = np.array([reading.time_s + reading.age_s for reading in readings.values()])
    off = np.abs(clock_s - np.median(clock_s)) > LARGEST_OFFSET_S
    return [
        f"clock of {host} is more than {LARGEST_OFFSET_S / 60:.0f} minutes off the other hosts'"
        for host, apart in zip(readings, off.tolist(), strict=True)
        if apart
    ]
