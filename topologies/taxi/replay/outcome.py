"""What feeding reports: its progress, and its outcome at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from topologies.taxi.replay.check import ORDER_FAULTS

REJECTED = "rejected:"
"""Fields of the hash `feed` that count rejects begin so; the reason follows."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where feeding stands.

    Attributes:
        phase: `fast`, `paced`, `draining` (of fast rows), `waiting` (for Redis) or `finding the next row`.
        fed: Rows in Redis.
        rows: Rows to feed; None: not known.
        share: How much of the source has been read, 0 to 1.
        released: Last row whose results are there.
        lag_ms: How far the latest paced row was behind its schedule.
        note: What is waited for; empty when all goes well.
    """

    phase: str
    fed: int
    rows: int | None
    share: float
    released: int
    lag_ms: float = 0.0
    note: str = ""


@dataclass(slots=True)
class Outcome:
    """What feeding came to.

    Attributes:
        fed: Rows of the run in Redis, in all.
        begun_at: Rows that were there when this feeding began.
        ended: Whether the end was written; if not, the user has asked for a pause.
        seconds: How long this feeding took, from its first row on.
        lag_ms: Sum over the paced rows of how late each came.
        paced: Paced rows of this feeding.
        worst_lag_ms: The latest one.
        faults: Rows by fault, of the whole run.
    """

    fed: int = 0
    begun_at: int = 0
    ended: bool = False
    seconds: float = 0.0
    lag_ms: float = 0.0
    paced: int = 0
    worst_lag_ms: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def mean_lag_ms(self) -> float:
        """Mean over the paced rows."""
        return self.lag_ms / self.paced if self.paced else 0.0

    @property
    def rejected(self) -> dict[str, int]:
        """Malformed rows by reason."""
        return {fault: count for fault, count in sorted(self.faults.items()) if fault not in ORDER_FAULTS}

    def late(self, lag_s: list[float]) -> None:
        """Count paced rows, each by how late it was."""
        self.paced += len(lag_s)
        self.lag_ms += 1_000.0 * sum(lag_s)
        self.worst_lag_ms = max(self.worst_lag_ms, 1_000.0 * max(lag_s))


def fault_field(fault: str) -> str:
    """Return the field of the hash `feed` in which rows with a fault are counted."""
    return fault if fault in ORDER_FAULTS else f"{REJECTED}{fault}"


def read_faults(feed: dict[str, str]) -> Counter[str]:
    """Read the counts of faults from the hash `feed`."""
    return Counter(
        {
            name.removeprefix(REJECTED): int(count)
            for name, count in feed.items()
            if name.startswith(REJECTED) or name in ORDER_FAULTS
        }
    )
