"""What still waits at a topology's source: it counts as demand, and is none of the topology's own queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class LagError(Exception):
    """What waits at the source cannot be found out; the message is one sentence."""


@dataclass(frozen=True)
class AtSource:
    """What a source says.

    Attributes:
        waiting: Items that wait.
        arrived: Items that have ever come, where the source counts them; None: it does not.
    """

    waiting: float
    arrived: float | None = None


class LagReader(Protocol):
    """Asks a source how many items wait there."""

    def lag(self) -> AtSource:
        """Return how many items wait.

        Raises:
            LagError: That cannot be found out.
        """
