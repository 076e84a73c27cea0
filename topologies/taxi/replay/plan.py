"""How rows are fed: phases one after the other, and how far they go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.taxi.replay.pace import Pace


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of rows that are fed in one way.

    Attributes:
        pace: When rows are due; None: at once, as fast as they are consumed.
        rows: How many rows; None: all that are left.
        held: Whether rows wait for those before them to be released, as far as `ahead` says.
        drained: Whether it begins when all rows before it are released.
    """

    pace: Pace | None
    rows: int | None = None
    held: bool = True
    drained: bool = False

    @property
    def name(self) -> str:
        """`paced` or `fast`."""
        return "fast" if self.pace is None else "paced"


@dataclass(frozen=True, slots=True)
class Limits:
    """How far feeding goes.

    Attributes:
        ahead: Most rows in Redis beyond the last released one, where rows are held.
        timeout_s: Longest time without any progress of the topology, or with a Redis that is away or full.
        trim: Whether entries go that no query needs any more.
    """

    ahead: int
    timeout_s: float = 120.0
    trim: bool = False
