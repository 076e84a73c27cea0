"""How busy the processors were while times were measured: other work spoils what is measured.

One record per run, one sentence for all reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from replay.errors import DataError
from replay.output import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUSY = "busy.json"
DISTURBED_ABOVE = 0.8
"""In a queue, M/M/1, work takes five times as long as on an idle processor when 80 % of its time is used."""


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


def write_busy(folder: Path, share: float) -> None:
    """Keep the share (0 to 1) of the processors' time that was used while rows of a run were measured.

    Raises:
        MachineError: The file cannot be written.
    """
    write_json(folder / BUSY, {"busy": share})


def read_busy(folder: Path) -> float | None:
    """Return the share that `write_busy` kept in a run's folder; None where there is none.

    Raises:
        DataError: The file holds something else.
    """
    path = folder / BUSY
    if not path.exists():
        return None
    share = read_json(path).get("busy")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise DataError(f"{path}: busy: expected a number from 0 to 1")
    return float(share)


def is_disturbed(share: float | None) -> bool:
    """Return whether the processors were too busy for a run to be compared; not where it is not known."""
    return share is not None and share > DISTURBED_ABOVE


def busy_sentence(shares: Mapping[str, float | None]) -> str:
    """Say how busy the processors were, and which runs are not to be compared for it.

    Args:
        shares: Share of the processors' time that was used (0 to 1), by run; None where it is not known.
    """
    known = {run: share for run, share in shares.items() if share is not None}
    if not known:
        return "How busy the processors were while times were measured is not known."
    low, high = f"{min(known.values()):.0%}", f"{max(known.values()):.0%}"
    busy = f"Processors busy while times were measured: {low if low == high else f'{low} to {high}'}"
    disturbed = [f"{run} ({share:.0%})" for run, share in known.items() if is_disturbed(share)]
    if not disturbed:
        return f"{busy}; no run was disturbed (above {DISTURBED_ABOVE:.0%})."
    return f"{busy}. DISTURBED, above {DISTURBED_ABOVE:.0%}, and not to be compared: {', '.join(disturbed)}."
