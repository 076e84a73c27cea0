"""Route counts packed in one string.

Storm 2.3 and later refuse nested lists in tuples that leave a worker (their JSON classes are not registered
with Kryo), so many entries travel as one flat string: `ROUTE COUNT FRESHEST` joined by `;`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.taxi.window import RouteCount

if TYPE_CHECKING:
    from collections.abc import Iterable


def pack(entries: Iterable[RouteCount]) -> str:
    """Return the entries as one string; no entries are an empty string."""
    return ";".join(f"{entry.route} {entry.count} {entry.freshest}" for entry in entries)


def unpack(packed: str) -> list[RouteCount]:
    """Return the entries of a packed string.

    Raises:
        ValueError: The string was not made by `pack`.
    """
    if not packed:
        return []
    entries = []
    for part in packed.split(";"):
        route, count, freshest = part.split(" ")
        entries.append(RouteCount(route, int(count), int(freshest)))
    return entries


def marked(began: int, packed: str) -> str:
    """Return packed counts with the number at which their window began, in front."""
    return f"@{began} {packed}"


def unmarked(text: str) -> tuple[int, str]:
    """Return the number at which the window of packed counts began (0: no mark), and the packed counts."""
    if not text.startswith("@"):
        return 0, text
    began, _, packed = text[1:].partition(" ")
    return int(began), packed
