"""What every tuple carries in front: its epoch, its rows, and where each query stands in the epoch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class QueryStart:
    """Where a query stands when an epoch begins.

    Attributes:
        start: First row from which the query's windows are rebuilt; rows before it are not the query's.
        clock_s: The query's clock before that row, seconds since 1970; None: no row had passed yet.
        released: Last row whose results are written (0: none); up to it rows are not written again.
    """

    start: int = 1
    clock_s: int | None = None
    released: int = 0


@dataclass(frozen=True, slots=True)
class Header:
    """The rows [first, next) of one tuple, and the epoch in which they travel.

    The first values of each tuple are a header's; they are numbers and one text, as tuples are flat.

    Attributes:
        epoch: Number of the epoch; of two, the higher is right.
        origin: Row with which the epoch began.
        first: First row of the batch.
        next: Row behind its last.
        queries: Packed `QueryStart` of each query, the same for all tuples of an epoch.

    Raises:
        ValueError: The batch is empty, or lies before the origin.
    """

    FIELDS: ClassVar = ["epoch", "origin", "first", "next", "queries"]

    epoch: int
    origin: int
    first: int
    next: int
    queries: str

    def __post_init__(self) -> None:
        if not self.origin <= self.first < self.next:
            raise ValueError(
                f"rows [{self.first}, {self.next}) are no batch of an epoch that begins at row {self.origin}"
            )

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """Return the header of a tuple's values."""
        return cls(*values[:5])

    @property
    def values(self) -> list[Any]:
        """The values to put in front of a tuple's own."""
        return [self.epoch, self.origin, self.first, self.next, self.queries]

    @property
    def begins_epoch(self) -> bool:
        """Whether this is the epoch's first batch: all state of earlier epochs has to be forgotten."""
        return self.first == self.origin

    def query(self, name: str) -> QueryStart:
        """Return where a query stands.

        Raises:
            KeyError: The epoch does not serve the query.
        """
        return _unpack(self.queries)[name]

    def serves(self, name: str) -> bool:
        """Whether the rows are the query's (no batch lies on both sides of its start)."""
        return self.first >= self.query(name).start

    def is_released(self, name: str) -> bool:
        """Whether the query's results of these rows are written already (all of them or none are)."""
        return self.first <= self.query(name).released


def pack_queries(queries: Mapping[str, QueryStart]) -> str:
    """Return the packed text of a header: `NAME START CLOCK RELEASED` joined by `;`, no clock is `-`."""
    return ";".join(
        f"{name} {each.start} {'-' if each.clock_s is None else each.clock_s} {each.released}"
        for name, each in queries.items()
    )


@lru_cache(maxsize=8)  # the same for all tuples of an epoch
def _unpack(packed: str) -> Mapping[str, QueryStart]:
    queries = {}
    for part in packed.split(";"):
        name, start, clock, released = part.split(" ")
        queries[name] = QueryStart(int(start), None if clock == "-" else int(clock), int(released))
    return queries
