"""What rows come from, and how it is known again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """By what a source is known again when a run goes on.

    Attributes:
        name: Name of the file or folder, without its place.
        size: Bytes of a file, rows of a table.
        first: Hash of a file's first line, or of a table's summary.
    """

    name: str
    size: int
    first: str


class Source(Protocol):
    """Rows as lines, in order, the same ones each time."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What it is known by."""

    @property
    def rows(self) -> int | None:
        """How many there are, where that is known without reading them."""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines from the first one on.

        Raises:
            RowsError: It cannot be read, or not further.
        """

    def share(self) -> float:
        """Return how much of it has been read, 0 to 1."""
