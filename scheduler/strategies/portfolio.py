"""`portfolio`: greedy at once, then iterated local search beside the search for a proof; our own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.children import INLINE, Children, Job
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Progress, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.solve import solve_exact
from scheduler.search.iterated import improve
from scheduler.strategies.ils import IlsParameters
from scheduler.strategies.odp import OdpParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

LOOK_EVERY_S = 0.2
"""Between two looks at the deadline while only the proof is under way."""
INLINE_SHARE = 0.5
"""Of the time goes to the proof where it runs here, so that the search cannot go on beside it."""


@dataclass(frozen=True)
class PortfolioParameters:
    """Settings of `portfolio`.

    Attributes:
        patience: Iterations of `ils` without a better placement after which its search ends (>= 1); None: it
            goes on until the proof is there or time is over.
        walkers: As of `ils` (>= 2).
        first_patience: The patience of the short search that gives the proof its start (>= 1).
        work_limit: Work after which the proof is given up, as of `odp` (> 0); None: it goes on, by a solver
            in the end, until time is over.
    """

    patience: int | None = IlsParameters.patience
    walkers: int = IlsParameters.walkers
    first_patience: int = 2
    work_limit: float | None = OdpParameters.work_limit

    def __post_init__(self) -> None:
        IlsParameters(self.patience, self.walkers)
        OdpParameters(self.work_limit)
        whole_number("first_patience", self.first_patience, 1)


def portfolio(problem: Problem, parameters: PortfolioParameters, context: Context, /) -> Suggestion:
    """Return the best that `ils` and the exact solver find, with a proof or a bound if there is one.

    After greedy a short `ils` gives the exact solver, in a child, its start; then `ils` runs here meanwhile.
    The end comes with the proof, at the deadline, or when both have ended.

    A proof decides: then the placement is the solver's, whatever `ils` had reached. Otherwise it is the
    better of both ends, so never worse than that of `ils` alone. Thus the result does not depend on which of
    them is faster unless the deadline cuts them short. An `ils` without patience ends so anyway: it starts
    from what the short one found, and begins anew with every better placement of the solver.
    """
    first = greedy_placement(problem, context)
    best = Incumbent(problem, context.report)
    if first.placement is not None:
        best.offer(first.placement, "greedy")
    if context.deadline.expired() or (first.placement is None and first.proved):
        return first
    if best.placement is not None:
        (random,) = context.random.spawn(1)
        short = replace(context, random=random, report=best.take)
        improve(problem, best.placement, short, parameters.first_patience, parameters.walkers)
    proof = _Proof(problem, parameters, best, context)
    try:
        found = _search_beside(first, parameters, proof, context)
    finally:
        proof.job.stop()
    if proof.proved is not None:
        return _decided(proof.proved, best)
    if not context.deadline.expired():
        return _better(found, proof)
    if best.placement is None:
        return first
    return best.suggestion("the deadline ended the search and the proof")


def _search_beside(
    first: Suggestion, parameters: PortfolioParameters, proof: _Proof, context: Context
) -> Suggestion:
    """Search while the proof is under way, then wait for it; return what is found by the search alone."""
    best, found = proof.best, first
    beside = replace(context, deadline=context.deadline.or_when(proof.decided), report=best.take)
    start = first.placement if parameters.patience is not None else best.placement
    while start is not None:
        proof.better = False
        found = improve(best.problem, start, beside, parameters.patience, parameters.walkers)
        start = best.placement if proof.better and not context.deadline.expired() else None
    while not proof.job.ended and not context.deadline.expired():
        proof.job.wait(min(LOOK_EVERY_S, context.deadline.remaining()))
        proof.listen()
    proof.listen()
    return found


def _decided(exact: Suggestion, best: Incumbent) -> Suggestion:
    """Return what is proved; only a solver's tolerance can let the search be ahead of it."""
    placement = exact.placement
    if placement is not None and best.rank[0] < evaluate(best.problem, placement).rank[0]:
        placement = best.placement
    return Suggestion(placement, exact.reason, bound=best.known_bound, proved=True)


def _better(found: Suggestion, proof: _Proof) -> Suggestion:
    """Return the best of what search, solver and its start have at their ends; of equals the first."""
    exact, problem = proof.exact, proof.best.problem
    ends = [found.placement, None if exact is None else exact.placement, proof.start]
    placements = [each for each in ends if each is not None]
    why = exact.reason if exact is not None else f"the proof failed: {proof.job.failure}"
    reason = f"{found.reason}; {why}"
    if not placements:
        return Suggestion(None, reason)
    placement = min(placements, key=lambda each: evaluate(problem, each).rank)
    return Suggestion(placement, reason, bound=proof.best.known_bound)


@dataclass(frozen=True, eq=False)
class _Question:
    """What the exact solver is asked; `children` are what starts its solvers."""

    problem: Problem
    start: IntArray | None
    work_limit: float
    children: Children


class _Proof:
    """The exact solver at work in a child.

    Attributes:
        job: The child.
        best: Takes what the solver reports.
        start: The placement that it starts from.
        exact: Its answer, once it is there.
        better: Whether it has reported a placement of lower F since this was last set to False, and the
            search is to begin anew with that.
    """

    def __init__(
        self, problem: Problem, parameters: PortfolioParameters, best: Incumbent, context: Context
    ) -> None:
        deadline = context.deadline
        if context.children is INLINE:
            deadline = deadline.share(INLINE_SHARE)
        self.best = best
        self.exact: Suggestion | None = None
        self.better = False
        self._begins_anew = parameters.patience is None
        limit = math.inf if parameters.work_limit is None else parameters.work_limit
        self.start = best.placement
        question = _Question(problem, self.start, limit, context.children)
        self.job: Job[Progress | Suggestion] = context.children.start(prove, question, deadline)

    @property
    def proved(self) -> Suggestion | None:
        """The answer, if it is a proof: of an optimum, or that there is no placement at all."""
        exact = self.exact
        if exact is None or not exact.proved:
            return None
        return exact if exact.placement is not None or self.best.placement is None else None

    def listen(self) -> None:
        """Take the solver's messages."""
        for message in self.job.messages():
            if isinstance(message, Suggestion):
                self.exact = message
                continue
            before = self.best.rank
            self.best.take(message)
            if self.best.rank[0] < before[0]:
                self.better = self._begins_anew

    def decided(self) -> bool:
        """Return whether the search beside has to end now, for what is proved or better."""
        self.listen()
        return self.better or self.proved is not None


def prove(question: _Question, deadline: Deadline, say: Callable[[Progress | Suggestion], None]) -> None:
    """Search for a proof in a child; sends progress and at last the answer."""
    context = Context(np.random.default_rng(0), deadline, question.children, say)
    start = Suggestion(question.start, "given")
    say(solve_exact(question.problem, start, context, work_limit=question.work_limit))


ENTRY = StrategyEntry(
    name="portfolio",
    solve=portfolio,
    parameters=PortfolioParameters,
    summary="greedy at once, then ils beside the exact solver: best placement and bound at any moment",
    exact=True,
    anytime=True,
    never_worse_than_greedy=True,
    limits=("patience", "work_limit"),
)
