"""Asking a solver in a child process, without believing it more than it deserves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.form.class_form import ClassForm, class_form
from scheduler.exact.solver.program import Program, link_variables, placement_program
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.incumbent import Incumbent
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem

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


def relaxed_placement(problem: Problem, context: Context) -> FloatArray:
    """Return the shares x_(i,u) of each operator on each node in an optimum of the linear relaxation.

    Operators may be split over nodes there (paper 000, section 5.3); exchangeable ones get equal shares. If
    the relaxation has no solution, or the deadline comes before it is found, every operator is spread evenly
    over the nodes it is allowed on.

    Args:
        problem: The problem.
        context: Deadline, and children for the solver.

    Returns:
        (n_ops, n_nodes) in [0, 1]; rows sum up to 1, to 0 for an operator allowed nowhere.
    """
    form = class_form(problem)
    program = placement_program(form, form.slots > 0, SCALE)
    program.model.variables.integers[:] = [False] * len(program.model.variables.ids)
    answer = ask(program, context, context.deadline)
    if answer is None or answer.values is None:
        spread = problem.allowed.astype(np.float64)
        evenly: FloatArray = spread / np.maximum(spread.sum(axis=1, keepdims=True), 1.0)
        return evenly
    shares = np.zeros((problem.n_ops, problem.n_nodes))
    counts = np.maximum(program.counts(answer.values, problem.n_nodes), 0.0)
    for members, row in zip(form.classes, counts, strict=True):
        shares[members] = row / row.sum()
    return shares
