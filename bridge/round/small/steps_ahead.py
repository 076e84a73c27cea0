"""The hours to come of one topology: how busy they usually are, and which of its hosts leave as announced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from formats.week_curve import HOUR_S
from scheduler.moving.steps import Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RATIO = 1.25
"""Factors are taken in steps of this: hours that are about as busy are alike, which saves searches."""


def steps_ahead(
    factors: Sequence[float | None], hour_left_s: float, leaving_s: Mapping[str, float], horizon_s: float
) -> tuple[Step, ...]:
    """Return the steps of the time to come, in which something is other than now; empty if nothing is.

    Args:
        factors: By what factor sources emit more in each of the next hours than now, None where that is not
            known: of it and of what follows nothing is known then. Empty: as much as now.
        hour_left_s: Time until the first of these hours begins, s.
        leaving_s: Time until hosts are to be emptied, by name, s.
        horizon_s: How far to look, s.
    """
    known = next((k for k, each in enumerate(factors) if each is None), len(factors))
    if factors:
        horizon_s = min(horizon_s, hour_left_s + known * HOUR_S)
    begins = [hour_left_s + k * HOUR_S for k in range(known)]
    cuts = sorted({0.0, *(at for at in (*begins, *leaving_s.values()) if 0 < at < horizon_s)})
    steps = []
    for begin_s, end_s in zip(cuts, [*cuts[1:], horizon_s], strict=True):
        hour = sum(at <= begin_s for at in begins)
        rate = _rounded(factors[hour - 1] or 0.0) if hour else 1.0
        away = frozenset(name for name, at in leaving_s.items() if at <= begin_s)
        steps.append(Step(end_s - begin_s, rate, away))
    return tuple(steps) if any(not each.alike(steps[0]) for each in steps) else ()


def _rounded(factor: float) -> float:
    """Return the nearest power of the ratio; no load stays none."""
    return _RATIO ** round(math.log(factor, _RATIO)) if factor > 0 else 0.0
