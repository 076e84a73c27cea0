"""What a heuristic adds to a problem to make it smaller (paper 002, section IV)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Additions:
    """Constraints by names; false if there are none.

    Attributes:
        allowed: Nodes of operators that are restricted to some (eq. 8).
        pinned: The node of each operator that is pinned (eq. 9).
        colocated: Pairs of operators that share a node (eq. 11).
    """

    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pinned: Mapping[str, str] = field(default_factory=dict)
    colocated: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.allowed or self.pinned or self.colocated)


NOTHING_ADDED = Additions()
