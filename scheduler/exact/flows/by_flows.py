"""The best placement of a flow form, with its proof: solved, checked on fixed routes, cut, and solved again.

A start that is known narrows the program first: prices prove most places to be no better, and close them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.flows.closing import close
from scheduler.exact.flows.covers import Cover, cover, crowd, no_good
from scheduler.exact.flows.flow_program import FlowProgram, flow_program
from scheduler.exact.solver.ask import LONGEST_WAIT_S, SOLVER_SHARE, SOLVER_TOLERANCE, awaited
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.model.constraints.latency_limit import LatencyRule

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
    report: Callable[[IntArray | None, float], None] = _ignore,
) -> Found:
    """Return the best placement of a form.

    Args:
        form: The form.
        context: Deadline, and children for the solver.
        start: (n_blocks,) a feasible placement, if one is known.
        all_pairs: As of `flow_program`.
        report: Receives every better placement and bound.
    """
    search = _Search(form, context, start, report, all_pairs=all_pairs)
    try:
        return search.run()
    except OutOfTimeError:
        return search.found(proved=False)


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
        """Close places by prices; then solve, check, cut, and solve again until what is found fits."""
        closed = close(self.form, self.best, self.context.deadline)
        if closed.best is not None and closed.best is not self.best:
            self.best, self.worth = closed.best, self.form.value(closed.best)
            self.report(self.best, closed.bound)
        self._raise(closed.bound)
        form = closed.form
        if closed.empty:
            return self._proved()
        again = int(form.allowed.sum()) <= MOST_COLUMNS  # a program has more
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
        """Take a solution if it fits, on fixed routes and exactly; else add cuts and return True."""
        if answer.values is None:
            return False
        at = program.at(answer.values)
        if form.fits(at):
            worth = form.value(at)
            if worth < self.worth:
                self.best, self.worth = at, worth
                self.report(at, self.bound)
            return False
        cuts = [cover(self.form, at, link) for link in form.overfull(at).tolist()]
        cuts += [crowd(self.form, at, node, resource) for node, resource in form.crowded(at).tolist()]
        self.covers += cuts or [no_good(self.form, at)]
        return True


def _ask(program: FlowProgram, context: Context) -> SolverAnswer | None:
    """Return what HiGHS says; None if it says nothing in time or fails."""
    request = SolverRequest(program.model, program.wanted)
    job = context.children.start(run_highs, request, context.deadline.share(SOLVER_SHARE))
    while not awaited(job, context.deadline, LONGEST_WAIT_S):
        pass
    job.stop()
    return next(iter(job.messages()), None)


def least_latency_ms(form: FlowForm, limit: LatencyRule, context: Context) -> float | None:
    """Return the least time in which results reach an operator within all else; None if it is not found.

    Args:
        form: The form, of which the limit is one.
        limit: What is not kept.
        context: Deadline, and children for the solver.
    """
    free = replace(form, unary=np.zeros(form.unary.shape), weight=np.zeros(form.weight.shape), constant=0.0)
    try:
        program = flow_program(free, context.deadline, all_pairs=True, fastest=limit)
    except OutOfTimeError:
        return None
    if len(program.model.variables.ids) > MOST_COLUMNS:
        return None
    answer = _ask(program, context)
    if answer is None or answer.values is None or answer.status != "optimal":
        return None
    return float(limit.takes_ms(form.placement(program.at(answer.values))[:, None])[0])
