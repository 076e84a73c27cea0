"""Figures that others plan with change in steps: noise must not move anything. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEPS_PER_DECADE = 10
_STAYING = 1.5
_LEAST = 0.1

Key = TypeVar("Key")


class SteadyFigures(Generic[Key]):
    """Remembers what was given out, and gives it out again while what is measured stays near.

    A figure is what is measured, rounded up to one of ten steps per decade (0 below 0.1). It stays as long as
    what is measured is at most the figure and at least two thirds of it.
    """

    def __init__(self) -> None:
        self._given: dict[Key, float] = {}

    def hold(self, measured: Mapping[Key, float]) -> dict[Key, float]:
        """Return the figures to give out.

        Args:
            measured: What was measured by name, finite and not negative; other names are forgotten.
        """
        self._given = {key: self._figure(key, value) for key, value in measured.items()}
        return dict(self._given)

    def _figure(self, key: Key, value: float) -> float:
        given = self._given.get(key, 0.0)
        if given / _STAYING <= value <= given:
            return given
        if value < _LEAST:
            return 0.0
        # What is on a step but for rounding stays on it.
        step = math.ceil(_STEPS_PER_DECADE * math.log10(value) - 1e-9)
        return float(f"{10.0 ** (step / _STEPS_PER_DECADE):.3g}")
