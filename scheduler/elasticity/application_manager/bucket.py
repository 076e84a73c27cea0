"""A bucket of tokens: how much may be spent per hour, and how much at once."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import number


@dataclass(frozen=True)
class Bucket:
    """A bucket that fills evenly; within any hour no more than `most + per_hour` is spent.

    Attributes:
        per_hour: What comes in per hour (> 0).
        most: What it holds (> 0).
    """

    per_hour: float
    most: float

    def __post_init__(self) -> None:
        number("per_hour", self.per_hour, above=0.0)
        number("most", self.most, above=0.0)

    def filled(self, left: float | None, since_s: float, now_s: float) -> float:
        """Return what there is now.

        Args:
            left: What there was; None: nothing was taken yet, so that it is full.
            since_s: When, s.
            now_s: Now, s; a clock that was set back adds nothing.
        """
        if left is None:
            return self.most
        return min(self.most, left + self.per_hour / 3600.0 * max(0.0, now_s - since_s))
