"""Asking a solver in a child process, without believing it more than it deserves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.exact.form.class_form import ClassForm, class_form
from scheduler.exact.solver.program import SCALE, Program, placement_program
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.children import Job
    from scheduler.contract.incumbent import Incumbent
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem

SOLVER_TOLERANCE = 1e-7
"""How much a solver's proof may be wrong, relative to max(1, |F|): its rows hold to about 1e-6 only."""
LONGEST_WAIT_S = 1.0
"""Between two looks at the deadline."""
SOURCE = "HiGHS"
SOLVER_SHARE = 0.9
"""Of the time left is the solver's own limit: it overruns it, and what it knows is lost if it is killed."""
PATIENCE_S = 0.2
"""A solver that overruns the deadline by more is killed."""


class Asked:
    """A solver at work on a program, in a child.

    Args:
        program: The program.
        context: Children to run it.
        deadline: When it has to end; a solver that overruns it is killed.
        known: Whether good placements are known already, so that the solver need not look for any.
    """

    def __init__(
        self, program: Program, context: Context, deadline: Deadline, *, known: bool = False
    ) -> None:
        self._program, self._deadline = program, deadline
        request = SolverRequest(program.model, program.wanted, prove_only=known)
        self._job = context.children.start(run_highs, request, deadline.share(SOLVER_SHARE))

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; return whether there is nothing more to wait for."""
        return awaited(self._job, self._deadline, seconds)

    def answer(self) -> SolverAnswer | None:
        """Return what it says, with values of all variables; None if it said nothing in time or failed."""
        self._job.stop()
        answer = next(iter(self._job.messages()), None)
        if answer is None or answer.values is None:
            return answer
        values = np.zeros(len(self._program.model.variables.ids))
        values[self._program.wanted] = answer.values
        return replace(answer, values=values)

    def offer(self, form: ClassForm, incumbent: Incumbent) -> float:
        """Offer what it has found; return what F of its placements is at least, infinite if there is none."""
        answer = self.answer()
        if answer is None:
            return -math.inf
        if answer.values is not None:
            counts = np.rint(self._program.counts(answer.values, form.n_nodes)).astype(np.int64)
            if (counts.sum(axis=1) == form.size).all() and (counts >= 0).all():
                incumbent.offer(form.placement(counts), SOURCE)
        if answer.status == "infeasible":
            return math.inf
        return answer.bound / SCALE if math.isfinite(answer.bound) else -math.inf


def awaited(job: Job[Any], deadline: Deadline, seconds: float = LONGEST_WAIT_S) -> bool:
    """Wait for news of a job, at most so long; return whether it has ended or overruns the deadline."""
    if not job.ended and not deadline.expired():
        job.wait(min(seconds, deadline.remaining()))
    if not job.ended and deadline.expired():
        job.wait(PATIENCE_S)
        return True
    return job.ended


def ask(program: Program, context: Context, deadline: Deadline) -> SolverAnswer | None:
    """Return what HiGHS says about a program, or None if it says nothing in time or fails.

    Args:
        program: The program.
        context: Children to run it.
        deadline: When it has to end; a solver that overruns it is killed.
    """
    asked = Asked(program, context, deadline)
    while not asked.wait(LONGEST_WAIT_S):
        pass
    return asked.answer()


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
