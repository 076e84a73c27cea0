"""The exact solver: from a heuristic's placement to a proof, through bounds, search and solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.form import class_form
from scheduler.exact.incumbent import Incumbent
from scheduler.exact.program import placement_program
from scheduler.exact.solvers import Order, run_solver
from scheduler.exact.two_classes import search_two_classes
from scheduler.strategies.local_search import LocalSearchParameters, local_search

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.deadline import Deadline
    from scheduler.exact.form import ClassForm
    from scheduler.exact.program import Program
    from scheduler.exact.solvers import Answer, SolverName
    from scheduler.problem import Problem
    from scheduler.strategy import Context

SCALE = 1000.0
"""Units of a solver's objective per unit of F: its absolute tolerances are then small in F."""
SOLVER_TOLERANCE = 1e-7
"""How much a solver's proof may be wrong, relative to max(1, |F|): its rows hold to about 1e-6 only."""
LONGEST_WAIT_S = 1.0
"""Between two looks at the deadline."""
PATIENCE_S = 2.0
"""A solver that overruns its limit by more is killed."""


@dataclass(frozen=True, eq=False)
class Exact:
    """What the exact solver knows at its end.

    Attributes:
        placement: (n_ops,) the best placement found; None if there is none or none was found.
        bound: F of no placement is below this; None if nothing is known.
        proved: Whether the placement is proved optimal or, without a placement, that none exists.
        reason: Why it ended, in one sentence.
    """

    placement: IntArray | None
    bound: float | None
    proved: bool
    reason: str


def solve_exact(
    problem: Problem, start: IntArray | None, context: Context, *, time_limit_s: float | None = None
) -> Exact:
    """Return a placement with a proof that none is better, or the best one found before the deadline.

    Args:
        problem: The problem.
        start: (n_ops,) a feasible placement to begin with; None means that of `local-search`.
        context: Deadline, children for solvers, and who hears of progress.
        time_limit_s: Seconds after which to stop, if that comes before the deadline; without a deadline
            there is no clock and it is ignored.
    """
    deadline = context.deadline if time_limit_s is None else context.deadline.within(time_limit_s)
    incumbent = Incumbent(problem, context.report)
    if start is None:
        first = local_search(problem, LocalSearchParameters(), context)
        if first.placement is None and first.proved:
            return Exact(None, None, proved=True, reason=first.reason)
        start = first.placement
    if start is not None:
        incumbent.offer(start, "start")
    if deadline.expired():
        return _stopped(incumbent)
    form = class_form(problem)
    if search_two_classes(form, incumbent, deadline):
        reason = "optimal: proved by branch and bound over exchangeable operators"
        return Exact(incumbent.placement, incumbent.bound, proved=True, reason=reason)
    return _by_solver(form, incumbent, context, deadline)


def _stopped(incumbent: Incumbent) -> Exact:
    bound = None if incumbent.bound == -math.inf else incumbent.bound
    return Exact(incumbent.placement, bound, proved=False, reason="the deadline ended the search for a proof")


def ask(
    solver: SolverName, program: Program, context: Context, deadline: Deadline, cutoff: float = math.inf
) -> Answer | None:
    """Return what a solver says about a program, or None if it says nothing in time.

    Args:
        solver: Who is asked.
        program: The program.
        context: Children to run it.
        deadline: When it has to end; a solver that overruns it is killed.
        cutoff: Solutions that are not below this value of the program's objective are of no use.
    """
    wanted = program.wanted
    job = context.children.start(run_solver, Order(solver, program.model, wanted, cutoff=cutoff), deadline)
    while not job.ended and not deadline.expired():
        job.wait(min(LONGEST_WAIT_S, deadline.remaining()))
    if not job.ended:
        job.wait(PATIENCE_S)
    job.stop()
    answer = next(iter(job.messages()), None)
    if answer is None or answer.values is None:
        return answer
    values = np.zeros(len(program.model.low))
    values[wanted] = answer.values
    return replace(answer, values=values)


def _by_solver(form: ClassForm, incumbent: Incumbent, context: Context, deadline: Deadline) -> Exact:
    program = placement_program(form, form.slots > 0, SCALE)
    answer = ask("highs", program, context, deadline)
    if answer is None:
        return _stopped(incumbent)
    if answer.values is not None:
        counts = np.rint(program.counts(answer.values, form.n_nodes)).astype(np.int64)
        if (counts.sum(axis=1) == form.size).all() and (counts >= 0).all():
            incumbent.offer(form.placement(counts), answer.solver)
    if answer.status == "infeasible" and incumbent.placement is None:
        return Exact(None, None, proved=True, reason="a solver proved that no placement exists")
    slack = SOLVER_TOLERANCE * max(1.0, abs(incumbent.objective))
    if math.isfinite(answer.bound):
        incumbent.raise_bound(answer.bound / SCALE - slack, answer.solver)
    if incumbent.placement is not None and incumbent.bound >= incumbent.objective - 2 * slack:
        return Exact(incumbent.placement, incumbent.bound, proved=True, reason="optimal: proved by a solver")
    return _stopped(incumbent)
