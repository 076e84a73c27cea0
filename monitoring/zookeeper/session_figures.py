"""The counts of a session with ZooKeeper at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """A session with ZooKeeper.

    Attributes:
        changes: How often each state began.
        writes: Contents that ZooKeeper took.
        written_age_s: Time since it took the last one, s; NaN before the first.
    """

    changes: Mapping[str, int]
    writes: int
    written_age_s: float
