"""What the components of a sleeping topology find in its configuration, and the keys in Redis of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topologies.run_id import NamedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_KEY = "sleeping.redis"
RUN_KEY = "sleeping.run"
FIELD = "item"


@dataclass(frozen=True, slots=True)
class SleepingRun(NamedRun):
    """One run and its keys in Redis."""

    @property
    def waiting(self) -> str:
        """List of the items that no source has taken yet."""
        return f"sleeping:{self.id}:waiting"

    @property
    def count(self) -> str:
        """Number of all items that have ever come to that list."""
        return f"sleeping:{self.id}:count"

    @property
    def taken(self) -> str:
        """List of those that a source has taken and that are not acknowledged."""
        return f"sleeping:{self.id}:taken"

    @property
    def arrived(self) -> str:
        """Stream of what has come to the sink: `item`, and `us`, when."""
        return f"sleeping:{self.id}:arrived"

    @classmethod
    def from_conf(cls, conf: Mapping[str, Any]) -> SleepingRun:
        """Return the run that a topology serves."""
        return cls(str(conf[RUN_KEY]))


def item_text(number: int, due_us: int) -> str:
    """Return an item as it stands in Redis and in tuples.

    Args:
        number: Of the item; one that only shows that the way is open has a negative one.
        due_us: When it was to come, unix microseconds.
    """
    return f"{number}:{due_us}"


def item_number(text: str) -> int:
    """Return the number of an item.

    Raises:
        ValueError: The text is none.
    """
    return int(text.partition(":")[0])
