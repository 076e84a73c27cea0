"""Asking a mixed-integer solver in a child process, without believing it more than it deserves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.solver.program import Program, link_variables, placement_program
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.incumbent import Incumbent
    from scheduler.contract.strategy import Context
    from scheduler.exact.form.class_form import ClassForm

SCALE = 1000.0
"""Units of a solver's objective per unit of F: its absolute tolerances are then small in F."""
SOLVER_TOLERANCE = 1e-7
"""How much a solver's proof may be wrong, relative to max(1, |F|): its rows hold to about 1e-6 only."""
LARGEST_PROGRAM = 1_000_000
"""Link variables of a program that a solver is asked at all."""
LONGEST_WAIT_S = 1.0
"""Between two looks at the deadline."""
SOURCE = "HiGHS"
SOLVER_SHARE = 0.9
"""Of the time left is the solver's own limit: it overruns it, and what it knows is lost if it is killed."""
PATIENCE_S = 0.2
"""A solver that overruns the deadline by more is killed."""


def ask(program: Program, context: Context, deadline: Deadline) -> SolverAnswer | None:
    """Return what HiGHS says about a program, or None if it says nothing in time or fails.

    Args:
        program: The program.
        context: Children to run it.
        deadline: When it has to end; a solver that overruns it is killed.
    """
    wanted = program.wanted
    limit = deadline.share(SOLVER_SHARE)
    job = context.children.start(run_highs, SolverRequest(program.model, wanted), limit)
    while not job.ended and not deadline.expired():
        job.wait(min(LONGEST_WAIT_S, deadline.remaining()))
    if not job.ended:
        job.wait(PATIENCE_S)
    job.stop()
    answer = next(iter(job.messages()), None)
    if answer is None or answer.values is None:
        return answer
    values = np.zeros(len(program.model.variables.ids))
    values[wanted] = answer.values
    return replace(answer, values=values)


def search_by_solver(
    form: ClassForm, open_places: BoolArray, incumbent: Incumbent, context: Context, deadline: Deadline
) -> bool:
    """Let HiGHS solve what is open; return whether it is proved that nothing better, or nothing, exists.

    Its bound is lowered by what its tolerances may hide; its placement counts only by the core's own check
    and value.

    Args:
        form: The problem.
        open_places: (n_classes, n_nodes) places that a better placement may use.
        incumbent: Offered what is found; may be without a placement.
        context: Children to run the solver.
        deadline: When to stop.
    """
    if link_variables(form, open_places) > LARGEST_PROGRAM:
        return False
    try:
        program = placement_program(form, open_places, SCALE, deadline)
    except OutOfTimeError:
        return False
    answer = ask(program, context, deadline)
    if answer is None:
        return False
    if answer.values is not None:
        counts = np.rint(program.counts(answer.values, form.n_nodes)).astype(np.int64)
        if (counts.sum(axis=1) == form.size).all() and (counts >= 0).all():
            incumbent.offer(form.placement(counts), SOURCE)
    if incumbent.placement is None:
        return answer.status == "infeasible"
    slack = SOLVER_TOLERANCE * max(1.0, abs(incumbent.objective))
    if answer.status == "infeasible":
        incumbent.raise_bound(incumbent.objective - slack, SOURCE)
    elif math.isfinite(answer.bound):
        # outside of the open places nothing is better than the incumbent
        incumbent.raise_bound(min(answer.bound / SCALE, incumbent.objective) - slack, SOURCE)
    return incumbent.bound >= incumbent.objective - 2 * slack
