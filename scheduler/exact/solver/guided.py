"""Placements of everything, guided by prices of the linear relaxation, for a search to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.base.work import OutOfTimeError
from scheduler.exact.columns.by_columns import has_columns
from scheduler.exact.columns.joint_beam import JointBeam
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.program import SCALE, link_variables
from scheduler.exact.solver.relaxation import relaxed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

LARGEST_PROGRAM = 30_000
"""Link variables up to which a relaxation takes some tenths of a second."""


def guided(
    problem: Problem, limit: float, deadline: Deadline
) -> Callable[[np.random.Generator], IntArray | None] | None:
    """Return what places everything anew, another way each time; None where there are no such prices.

    Args:
        problem: The problem; what is returned may break its rules, if it has any.
        limit: F of a known placement: places that only worse ones can use are left out.
        deadline: When to stop.
    """
    try:
        form = class_form(problem, deadline)
        if not has_columns(form) or link_variables(form, form.slots > 0) > LARGEST_PROGRAM:
            return None
        rest = relaxed(form, form.slots > 0, limit, deadline)
    except OutOfTimeError:
        return None
    if rest is None:
        return None
    beam = JointBeam(form, rest.places, rest.program.priced.prices(form, rest.answer.prices / SCALE))

    def anew(random: np.random.Generator) -> IntArray | None:
        at = beam.placement(random)
        return None if at is None else form.placement_at(at)

    return anew
