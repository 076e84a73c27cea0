"""Successive readings of a host show clocks that jump and two agents that publish for one host.

Nothing of it enters a plan: the shim states how old a reading is, whatever the host's own clock says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.readings.fault_kinds import FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.readings.believed import NodeReading

# Clocks that are kept by NTP differ by less.
LARGEST_OFFSET_S = 300.0
# An agent counts from 1 at its start, so that one step back is a restart; two so close together are not.
RESTARTS_WITHIN_S = 300.0
_LEAST_CLOCKS = 3


@dataclass(frozen=True, slots=True)
class _Trace:
    """The last reading of a host, the round that saw it, and when its agent began anew lately."""

    sequence: int
    time_s: float
    seen_s: float
    anew_s: tuple[float, ...]


class ReadingWatch:
    """Follows the readings of all hosts from round to round.

    Absent hosts are remembered for as long as restarts count, so that one that comes and goes is seen.
    """

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}
        self._last_s = -math.inf

    def observe(self, readings: Mapping[str, NodeReading], now_s: float) -> dict[FaultKind, tuple[str, ...]]:
        """Return what is odd about the readings of a round: phrases by kind of oddity.

        Args:
            readings: Believed readings by host.
            now_s: Time of the round, s. Of rounds that overlap an older one may come late: it says nothing
                about what came after what.
        """
        found: dict[FaultKind, list[str]] = {
            FaultKind.CLOCKS_OFF: _clocks_off(readings),
            FaultKind.CLOCKS_BACK: [],
            FaultKind.TWO_AGENTS: [],
        }
        if now_s >= self._last_s:
            self._last_s = now_s
            self._traces = {
                host: trace
                for host, trace in self._traces.items()
                if now_s - trace.seen_s <= RESTARTS_WITHIN_S
            }
            for host, reading in readings.items():
                self._follow(host, reading, now_s, found)
        return {kind: tuple(phrases) for kind, phrases in found.items() if phrases}

    def _follow(
        self, host: str, reading: NodeReading, now_s: float, found: Mapping[FaultKind, list[str]]
    ) -> None:
        last = self._traces.get(host)
        anew_s: tuple[float, ...] = ()
        if last is not None:
            anew_s = tuple(each for each in last.anew_s if now_s - each <= RESTARTS_WITHIN_S)
            # The same number at another time is of another count.
            recounted = reading.sequence == last.sequence and reading.time_s != last.time_s
            if reading.sequence < last.sequence or recounted:
                anew_s = (*anew_s, now_s)
            if reading.time_s < last.time_s:
                found[FaultKind.CLOCKS_BACK].append(f"clock of {host} went back")
        if len(anew_s) > 1:
            found[FaultKind.TWO_AGENTS].append(
                f"two agents publish for {host}, or its agent restarts again and again"
            )
        # Two are enough to decide.
        self._traces[host] = _Trace(reading.sequence, reading.time_s, now_s, anew_s[-2:])


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
