"""The samples of all components of a path, for managers that decide for the whole of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.elasticity.managers import why_held

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.path import Path
    from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample


def along(
    observation: OperatorObservation, path: Path, age_max_s: float
) -> tuple[tuple[OperatorSample, ...], str]:
    """Return the last samples of a path's components in its order, and why they do not count, if so.

    Args:
        observation: Of the manager of one of them.
        path: The path.
        age_max_s: Age above which a sample decides nothing, s.
    """
    own, samples = observation.sample, []
    for each in path.parts:
        is_own = own is not None and own.component == each.component
        other = own if is_own else observation.others.get(each.component)
        held = why_held(observation.now_s, other, None, age_max_s)
        if other is None or held:
            return (), f"{each.component}: {held}"
        samples.append(other)
    return tuple(samples), ""
