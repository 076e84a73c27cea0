"""Rows as one flat text, column by column: tuples are flat, and columns are read and written quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Columns = tuple[list[str], list[str], list[str], list[str]]


def empty_columns(shares: int) -> list[Columns]:
    """Return columns without rows for each share."""
    return [([], [], [], []) for _ in range(shares)]


def pack_columns(columns: Sequence[Sequence[str]]) -> str:
    """Return columns of the same length as one text: a line each, values joined by commas.

    Args:
        columns: Texts without commas and line feeds.

    Returns:
        The text; without rows an empty one.
    """
    return "\n".join(map(",".join, columns)) if columns[0] else ""


def unpack_columns(packed: str, columns: int) -> list[list[str]]:
    """Return the columns of a text.

    Args:
        packed: What `pack_columns` returned.
        columns: How many there are.

    Raises:
        ValueError: They are another number, or of different lengths.
    """
    if not packed:
        return [[] for _ in range(columns)]
    lists = [line.split(",") for line in packed.split("\n")]
    if len(lists) != columns or any(len(each) != len(lists[0]) for each in lists):
        raise ValueError(f"{packed[:80]!r}... are not {columns} columns of the same length")
    return lists
