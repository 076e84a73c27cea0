"""The best placement of a flow form, with its proof: solved, checked on fixed routes, cut, and solved again.

A start that is known narrows the program first: what its linear relaxation proves no better is closed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.flows.covers import Cover, cover
from scheduler.exact.flows.flow_program import FlowProgram, flow_program
from scheduler.exact.solver.ask import LONGEST_WAIT_S, SOLVER_SHARE, SOLVER_TOLERANCE, awaited
from scheduler.exact.solver.linear_program import LinearProgram
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm

LARGE = 2_000
"""Places from which the linear relaxation is solved first, where a start is known."""
MOST_COLUMNS = 2_000_000
"""Variables of a program that a solver is asked at all, about."""


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a form.

    Attributes:
        at: (n_blocks,) nodes of the blocks; None if no placement was found.
        bound: F of no placement is below; infinite if there is none.
        proved: Whether the bound proves the placement, or that there is none.
    """

    at: IntArray | None
    bound: float
    proved: bool


def _ignore(_at: IntArray | None, _bound: float) -> None:
    """Take no notice."""


def best_by_flows(
    form: FlowForm,
    context: Context,
    start: IntArray | None = None,
    *,
    all_pairs: bool = False,
    elastic: bool = False,
    report: Callable[[IntArray | None, float], None] = _ignore,
) -> Found:
    """Return the best placement of a form.

    Args:
        form: The form.
        context: Deadline, and children for the solver.
        start: (n_blocks,) a feasible placement, if one is known.
        all_pairs: As of `flow_program`.
        elastic: Likewise; what is found may overfill links then, as little as possible.
        report: Receives every better placement and bound.
    """
    if elastic:
        return _elastic(form, context)
    search = _Search(form, context, start, report, all_pairs=all_pairs)
    try:
        return search.run()
    except OutOfTimeError:
        return search.found(proved=False)


def _elastic(form: FlowForm, context: Context) -> Found:
    """Return the placement that overfills links least."""
    try:
        # split flows would share out what is overfull, so that another link may be named
        few = int(form.allowed.sum(axis=1)[form.ends].prod(axis=1).sum()) <= MOST_COLUMNS // 10
        program = flow_program(form, context.deadline, all_pairs=few, elastic=True)
    except OutOfTimeError:
        return Found(None, -math.inf, proved=False)
    answer = _ask(program, context)
    if answer is None or answer.values is None:
        return Found(None, -math.inf, proved=False)
    return Found(program.at(answer.values), answer.bound, proved=answer.status == "optimal")


class _Search:
    def __init__(
        self,
        form: FlowForm,
        context: Context,
        start: IntArray | None,
        report: Callable[[IntArray | None, float], None],
        *,
        all_pairs: bool,
    ) -> None:
        self.form, self.context, self.report, self.all_pairs = form, context, report, all_pairs
        self.best, self.bound = start, -math.inf
        self.worth = math.inf if start is None else form.value(start)
        self.covers: list[Cover] = []

    def found(self, *, proved: bool) -> Found:
        """Return what is known."""
        return Found(self.best, self.bound, proved)

    def run(self) -> Found:
        """Solve, check, cut, and solve again until what is found fits."""
        form = self.form
        if not form.allowed.any(axis=1).all():
            self.bound = math.inf
            return self.found(proved=True)
        if self.best is not None and form.allowed.sum() > LARGE:
            closer = self._closer()
            if closer is None:
                return self._proved()
            form = form.closed(closer)
        again = True
        while again:
            program = flow_program(form, self.context.deadline, self.covers, all_pairs=self.all_pairs)
            if len(program.model.variables.ids) > MOST_COLUMNS:
                break
            answer = _ask(program, self.context)
            if answer is None:
                break
            if answer.status == "infeasible":  # nothing is left but what is known
                return self._proved()
            self._raise(min(answer.bound, self.worth))
            again = self._take(form, program, answer) and answer.status == "optimal"
        if self.worth - self.bound <= 2 * self._slack:
            return self._proved()
        return self.found(proved=False)

    @property
    def _slack(self) -> float:
        """How much the solver's proof may be wrong."""
        return SOLVER_TOLERANCE * max(1.0, abs(self.worth)) if math.isfinite(self.worth) else 0.0

    def _proved(self) -> Found:
        self._raise(self.worth - self._slack)
        return self.found(proved=True)

    def _raise(self, bound: float) -> None:
        if bound > self.bound:
            self.bound = bound
            self.report(None, bound)

    def _take(self, form: FlowForm, program: FlowProgram, answer: SolverAnswer) -> bool:
        """Take a solution if it fits on fixed routes; else add cuts and return True."""
        if answer.values is None:
            return False
        at = program.at(answer.values)
        over = form.overfull(at).tolist()
        if not over:
            worth = form.value(at)
            if worth < self.worth:
                self.best, self.worth = at, worth
                self.report(at, self.bound)
            return False
        self.covers += [cover(self.form, at, link) for link in over]
        return True

    def _closer(self) -> BoolArray | None:
        """Return the places that may hold something better than the start; None if nothing can."""
        form = self.form
        program = flow_program(form, self.context.deadline, all_pairs=self.all_pairs)
        linear = LinearProgram(program.model)
        answer = linear.solve(self.context.deadline)
        if answer is None:
            raise OutOfTimeError
        self._raise(min(answer.bound, self.worth))
        least = answer.bound + np.maximum(answer.costs[program.wanted], 0.0)
        closer = np.zeros(form.allowed.shape, dtype=np.bool_)
        closer[program.place >= 0] = least < self.worth
        return closer if closer.any(axis=1).all() else None


def _ask(program: FlowProgram, context: Context) -> SolverAnswer | None:
    """Return what HiGHS says; None if it says nothing in time or fails."""
    request = SolverRequest(program.model, program.wanted)
    job = context.children.start(run_highs, request, context.deadline.share(SOLVER_SHARE))
    while not awaited(job, context.deadline, LONGEST_WAIT_S):
        pass
    job.stop()
    return next(iter(job.messages()), None)
