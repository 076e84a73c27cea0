"""What an experiment should show, beside what it showed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One thing that the experiment should show.

    Attributes:
        text: What.
        measured: What was measured.
        reached: Whether it is so; None if the measurement does not show it.
    """

    text: str
    measured: str
    reached: bool | None
