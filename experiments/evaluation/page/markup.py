"""Pieces of HTML: sections, figures, tables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


SHORT = 28
"""Characters of a text in a table that stays on one line."""


def section(title: str, *pieces: str) -> str:
    """Return a section under a heading; without pieces nothing."""
    inner = "\n".join(piece for piece in pieces if piece)
    return f"<section>\n<h2>{escape(title)}</h2>\n{inner}\n</section>" if inner else ""


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def plot(svg: str, sentence: str) -> str:
    """Return a plot with a sentence on what one sees."""
    return f"<figure>\n{svg}\n<figcaption>{escape(sentence)}</figcaption>\n</figure>"


def side_by_side(*pieces: str) -> str:
    """Return pieces beside each other where the page is wide enough."""
    return f'<div class="pair">{"".join(pieces)}</div>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: int = 1,
    strong: frozenset[int] = frozenset(),
) -> str:
    """Return a table.

    Args:
        heads: Names of the columns.
        rows: Cells; all but the first `texts` of each row are numbers, set to the right.
        texts: Columns of text.
        strong: Rows (from 0) that are set in bold.
    """

    def kind(cell: str) -> str:
        return " class=short" if len(cell) <= SHORT else ""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{kind(cell) if place < texts else ' class=number'}>{escape(cell)}</{tag}>"
            for place, cell in enumerate(row)
        )

    body = "\n".join(
        f"<tr{' class=strong' if number in strong else ''}>{cells(row, 'td')}</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="wide"><table>\n<thead><tr>{cells(heads, "th")}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def details(summary: str, inner: str) -> str:
    """Return something that opens on demand."""
    return f"<details>\n<summary>{escape(summary)}</summary>\n{inner}\n</details>"
