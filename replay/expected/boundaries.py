"""Output rows at the borders of blocks: a block cannot know what the best ten were before its first row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: query, block, kind (`top`: the block's first row; `edge`: after its last), labels of the best ten
Edge = tuple[int, int, str, list[str]]


def false_tops(edges: Iterable[Edge]) -> set[tuple[int, int]]:
    """Return (query, block) of blocks whose first row did not change the best ten.

    Args:
        edges: Two per query and block in which the query has rows, in any order.
    """
    false: set[tuple[int, int]] = set()
    before: dict[int, list[str]] = {}
    for query, block, kind, labels in sorted(edges, key=lambda each: (each[0], each[1], each[2] == "edge")):
        if kind == "edge":
            before[query] = labels
        elif labels == before.get(query, []):
            false.add((query, block))
    return false
