"""Batches of rows, put together from their parts and given out in the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topologies.batches.header import Header

Part = TypeVar("Part")

WHOLE = ""
"""Name of the one part of a batch that comes in one piece."""

MOST_WAITING = 50_000
"""Batches that may wait by default: more than the source ever has under way."""


class StuckError(Exception):
    """A component cannot go on in this epoch; the rows have to come again in a new one."""


@dataclass(frozen=True, slots=True)
class WholeBatch(Generic[Part]):
    """A batch all of whose parts are there.

    Attributes:
        header: The batch.
        parts: What came, by the part's name.
    """

    header: Header
    parts: dict[str, Part] = field(default_factory=dict)


class OrderedBatches(Generic[Part]):
    """Takes parts of batches in any order and gives out whole batches in the order of their rows.

    Within an epoch the first batch given out is the one that begins at the epoch's origin, and each next one
    begins where the last ended. So what a component makes of them is a function of the rows from the origin
    on, whatever was delayed. A higher epoch ends the one before; parts of lower epochs, and parts that came
    before, are dropped. An epoch whose number was given twice is given up: its rows would be put together of
    two that begin at different rows.

    Args:
        parts: Names of the parts of each batch.
        most_waiting: Batches that may wait for others or for parts of their own.
    """

    def __init__(self, parts: Iterable[str] = (WHOLE,), most_waiting: int = MOST_WAITING) -> None:
        self._parts = frozenset(parts)
        self._most_waiting = most_waiting
        self._epoch = -1
        self._position = 0
        self._terms = (0, "")
        self._spoiled = False
        self._waiting: dict[int, WholeBatch[Part]] = {}
        self._dropped: list[Part] = []

    @property
    def epoch(self) -> int:
        """The highest epoch so far, -1 before any."""
        return self._epoch

    def offer(self, header: Header, item: Part, part: str = WHOLE) -> None:
        """Take one part; `take` returns what has become whole.

        Args:
            header: The batch that it is of.
            item: What came.
            part: The part's name.

        Raises:
            StuckError: Too many batches wait, or the epoch's number was given twice. The epoch is given up:
                its further parts are dropped.
            ValueError: There is no such part.
        """
        if part not in self._parts:
            raise ValueError(f"batches consist of {sorted(self._parts)}, not of {part!r}")
        if header.epoch > self._epoch:
            self._drop_waiting()
            self._epoch, self._position, self._spoiled = header.epoch, header.origin, False
            self._terms = (header.origin, header.queries)
        if header.epoch < self._epoch or self._spoiled or header.first < self._position:
            self._dropped.append(item)
            return
        batch = self._waiting.get(header.first)
        if (header.origin, header.queries) != self._terms or (batch is not None and batch.header != header):
            # a Redis restored to older data may give a source without memory a number that was given before
            self.spoil()
            msg = f"two sources have begun epoch {header.epoch}: Redis has come back with older data"
            raise StuckError(msg)
        if batch is None:
            if len(self._waiting) >= self._most_waiting:
                self.spoil()
                what = f"rows from {self._position} on have not come"
                raise StuckError(f"{what}, and {self._most_waiting} batches wait for them")
            batch = self._waiting[header.first] = WholeBatch(header)
        if part in batch.parts:
            self._dropped.append(item)
        else:
            batch.parts[part] = item

    def take(self) -> WholeBatch[Part] | None:
        """Return the batch that is next, once it is whole.

        `header.begins_epoch` says that what was made of earlier batches has to be forgotten.
        """
        batch = self._waiting.get(self._position)
        if batch is None or len(batch.parts) < len(self._parts):
            return None
        del self._waiting[self._position]
        self._position = batch.header.next
        return batch

    def spoil(self) -> None:
        """Give up the epoch, as when a batch could not be worked off: its further parts are dropped."""
        self._drop_waiting()
        self._spoiled = True

    def take_dropped(self) -> list[Part]:
        """Return what was dropped since the last call; nothing will come of it."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def _drop_waiting(self) -> None:
        for batch in self._waiting.values():
            self._dropped += batch.parts.values()
        self._waiting.clear()
