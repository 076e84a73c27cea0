"""Limits on the time per tuple, as far as what they look at is measured (paper 001, eq. 18).

Storm does not measure how long tuples wait. The limit looks at the queue that measured execution times and
rates make on each host (`scheduler.model.duration`), and at nothing where one of them is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class DurationLimits:
    """The limits of one topology.

    Attributes:
        most_ms: (n_executors,) most time per tuple; 0 where there is no limit, or none that can be checked.
        note: What cannot be checked, one phrase; empty if all can.
    """

    most_ms: FloatArray
    note: str = ""


def duration_limits(
    stated: Mapping[str, float], component: Sequence[str], timed: BoolArray, *, rated: bool
) -> DurationLimits:
    """Return the limits that can be checked.

    Args:
        stated: Most time per tuple, ms, by component.
        component: Name of the component of each executor.
        timed: (n_executors,) whether the execution time is measured.
        rated: Whether the rates of streams are measured or declared.
    """
    limits = np.array([stated.get(name, 0.0) for name in component], dtype=np.float64)
    known = timed & rated
    unknown = sorted(
        {name for name, limit, sure in zip(component, limits, known, strict=True) if limit and not sure}
    )
    note = f"duration.max.ms of {', '.join(unknown)} is stated but " if unknown else ""
    if unknown:
        note += "execution times are not measured" if rated else "rates are neither measured nor declared"
    return DurationLimits(np.where(known, limits, 0.0), note)
