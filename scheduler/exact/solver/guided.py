"""Placements of everything, guided by prices of the linear relaxation, for a search to start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.work import OutOfTimeError
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.columns.by_columns import has_columns
from scheduler.exact.columns.joint_beam import JointBeam
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.program import SCALE, link_variables
from scheduler.exact.solver.relaxation import relaxed
from scheduler.search.iterated import PATIENCE, WALKERS, improve
from scheduler.search.replanting import by_beam

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.strategy import Context, Suggestion
    from scheduler.exact.form.class_form import ClassForm
    from scheduler.model.problem import Problem

GUIDING_SHARE = 0.4
"""Share of the time that prices which guide the search may take."""
LARGEST_PROGRAM = 30_000
"""Link variables up to which a relaxation takes some tenths of a second."""


@dataclass(frozen=True, eq=False)
class Guide:
    """Places everything anew at prices of a relaxation.

    Attributes:
        form: The problem.
        beam: Places its classes.
    """

    form: ClassForm
    beam: JointBeam

    def __call__(self, random: np.random.Generator) -> IntArray:
        """Return placements, (n_ops, k), others each time; they may break rules of the problem."""
        return self.form.placement_at(self.beam.placements(random))


def guide(problem: Problem, limit: float, deadline: Deadline) -> Guide | None:
    """Return what places everything anew; None where there are no prices to be guided by.

    Args:
        problem: The problem.
        limit: F of a known placement: places that only worse ones can use are left out.
        deadline: When to stop.
    """
    try:
        form = class_form(problem, deadline)
        if not has_columns(form) or link_variables(form, form.slots > 0) > LARGEST_PROGRAM:
            return None
        rest = relaxed(form, form.slots > 0, limit, deadline, once=True)
    except OutOfTimeError:
        return None
    if rest is None:
        return None
    prices = rest.program.priced.prices(form, rest.answer.prices / SCALE)
    return Guide(form, JointBeam(form, rest.places, prices))


def guided_search(
    problem: Problem,
    placement: IntArray,
    context: Context,
    patience: int | None = PATIENCE,
    walkers: int = WALKERS,
    *,
    say: Callable[[Guide], None] = lambda _guide: None,
) -> Suggestion:
    """Improve a placement, as `improve` does, guided by prices if there are any.

    Args:
        problem: The problem.
        placement: (n_ops,) the feasible start.
        context: As of `improve`.
        patience: See there.
        walkers: See there.
        say: Called with what guides.
    """
    worth = evaluate(problem, placement).objective
    anew = guide(problem, worth, context.deadline.share(GUIDING_SHARE))
    if anew is not None:
        say(anew)
    return improve(problem, placement, context, patience, walkers, anew=anew or by_beam)
