"""Markdown that reports share: tables, and values that may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; all columns but the first are aligned right."""
    # a vertical bar would end the cell
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    numbers = ["---"] + ["---:"] * (len(columns) - 1)
    return [f"| {' | '.join(row)} |" for row in (columns, numbers, *body)]


def distinct(values: Iterable[str]) -> str:
    """Return the different values, in their order."""
    return " / ".join(dict.fromkeys(values))
