"""What rows come from, a file of lines or a trips table, and how it is known again."""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from topologies.taxi.replay.check import ORDER_FAULTS, Checker
from topologies.taxi.rows import LinesFile, RowsError
from topologies.taxi.trip import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOOKED_AT = 100


class Source(Protocol):
    """Rows as lines, in order, the same ones each time.

    Attributes:
        fingerprint: By what it is known again when a run goes on, as fields of the hash `feed`.
        rows: How many there are, where that is known without reading them.
    """

    fingerprint: dict[str, str]
    rows: int | None

    def lines(self) -> Iterator[bytes]:
        """Yield the lines from the first one on.

        Raises:
            RowsError: It cannot be read, or not further.
        """

    def share(self) -> float:
        """Return how much of it has been read, 0 to 1."""


def fingerprint(name: str, size: int, first: bytes) -> dict[str, str]:
    """Return a source's fingerprint.

    Args:
        name: Name of the file or folder, without its place.
        size: Bytes of a file, rows of a table.
        first: A file's first line, or a table's summary.
    """
    source_first = hashlib.sha256(first).hexdigest()[:32]
    return {"source_name": name, "source_size": str(size), "source_first": source_first}


class FileSource(LinesFile):
    """A file of lines, which has been looked into.

    Args:
        path: The file.

    Raises:
        RowsError: It cannot be read, is empty, or holds no trips in 17 columns.
    """

    rows: int | None = None

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        head = list(islice(self.lines(), _LOOKED_AT))
        if not head:
            raise RowsError(f"{path} holds no rows")
        faults = [Checker().look(line).fault for line in head]
        if not any(fault is None or fault in ORDER_FAULTS for fault in faults):
            columns = head[0].count(b",") + 1
            what = (
                f"has {columns} column{'s' * (columns > 1)}, not {COLUMNS}"
                if columns != COLUMNS
                else f"is bad: {faults[0]}"
            )
            raise RowsError(
                f"{path}, line 1 {what}, and none of the first {len(head)} lines is a trip in the "
                "challenge's columns: other schemas become a trips table with `stormplace data ingest`"
            )
        self.fingerprint = fingerprint(path.name, path.stat().st_size, head[0])


def open_source(path: Path) -> Source:
    """Open a file of lines, or the folder of a trips table.

    Raises:
        RowsError: It cannot be read, or is neither.
    """
    if not path.is_dir():
        return FileSource(path)
    from topologies.taxi.replay.table import TableSource  # noqa: PLC0415 - pyarrow takes its time to load

    return TableSource(path)
