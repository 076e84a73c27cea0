"""When the rows of a batch end and begin, as one text: what filters send to a query's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.batches.clock import Moment

if TYPE_CHECKING:
    from collections.abc import Iterable

REJECT = "!"
"""Begins the text of a row that does not count; its reason follows."""


def pack_times(rows: Iterable[str]) -> str:
    """Return the rows' texts, `DROPOFF,PICKUP` (seconds since 1970) or `!REASON`, as one text."""
    return " ".join(rows)


def unpack_times(packed: str) -> list[Moment | str]:
    """Return for each row its moment, or why it does not count.

    Raises:
        ValueError: The text was not made by `pack_times`.
    """
    rows: list[Moment | str] = []
    for text in packed.split(" ") if packed else ():
        if text[0] == REJECT:
            rows.append(text[1:])
        else:
            dropoff, _, pickup = text.partition(",")
            rows.append(Moment(int(dropoff), int(pickup)))
    return rows
