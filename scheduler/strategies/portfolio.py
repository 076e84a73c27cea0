"""`portfolio`: greedy at once, then iterated local search beside the search for a proof; our own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.children import INLINE, Children
from scheduler.deadline import Deadline
from scheduler.evaluation import check, evaluate
from scheduler.exact.solve import Exact, solve_exact
from scheduler.search.descent import descend
from scheduler.strategies.greedy import greedy
from scheduler.strategies.ils import IlsParameters, improve
from scheduler.strategy import Context, NoParameters, Progress, Suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.arrays import IntArray
    from scheduler.children import Job
    from scheduler.evaluation import Rank
    from scheduler.problem import Problem

LOOK_EVERY_S = 0.2
"""Between two looks at the deadline while only the proof is under way."""
INLINE_SHARE = 0.5
"""Of the time goes to the proof where it runs here, so that the search cannot go on beside it."""


@dataclass(frozen=True)
class PortfolioParameters:
    """Settings of `portfolio`.

    Attributes:
        patience: Rounds of `ils` without a better placement after which its search ends (>= 1); None: it
            goes on until the proof is there or time is over.
        walkers: As of `ils` (>= 2).
        first_patience: The patience of the short search that gives the proof its start (>= 1).
        proof_size: Without a deadline a proof is sought for at most so many single moves, operators x nodes
            (>= 0): it may take hours for more.
    """

    patience: int | None = 16
    walkers: int = 24
    first_patience: int = 2
    proof_size: int = 64

    def __post_init__(self) -> None:
        IlsParameters(self.patience, self.walkers)
        for name, least in (("first_patience", 1), ("proof_size", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}: expected a whole number >= {least}, got {value!r}")


def tireless(parameters: PortfolioParameters) -> PortfolioParameters:
    """Return the parameters with which the search uses all the time that it is given."""
    return replace(parameters, patience=None)


def portfolio(problem: Problem, parameters: PortfolioParameters, context: Context, /) -> Suggestion:
    """Return the best that `ils` and the exact solver find, with a proof or a bound if there is one.

    After greedy a short `ils` gives the exact solver, in a child, its start. From then on `ils` goes on here,
    and begins anew with every better placement that the solver reports. The end comes with the proof, at the
    deadline, or when both have ended.

    A proof decides: then the placement is the solver's, improved by descent among equals, whatever `ils` had
    reached. So the result does not depend on which of them is faster unless the deadline cuts them short.
    """
    first = greedy(problem, NoParameters(), context)
    best = _Best(problem, context)
    if first.placement is not None:
        best.offer(first.placement, "greedy")
    elif first.proved:
        return first
    searching = IlsParameters(parameters.patience, parameters.walkers)
    small = problem.n_ops * problem.n_nodes <= parameters.proof_size
    if context.deadline.expired() or (context.deadline.unlimited and not small):
        return _search_alone(first, best, searching, context)
    if best.placement is not None:
        short = replace(searching, patience=parameters.first_patience)
        improve(problem, best.placement, short, replace(context, report=best.hear))
    proof = _Proof(problem, best, context)
    try:
        _search_beside(proof, searching, context)
    finally:
        proof.job.stop()
    return _conclusion(first, proof, context)


def _search_alone(first: Suggestion, best: _Best, searching: IlsParameters, context: Context) -> Suggestion:
    if first.placement is None:
        return first
    found = improve(best.problem, first.placement, searching, replace(context, report=best.hear))
    return replace(found, reason=f"{found.reason}; no proof was sought")


def _search_beside(proof: _Proof, searching: IlsParameters, context: Context) -> None:
    """Search while the proof is under way, then wait for it."""
    best = proof.best
    beside = replace(context, deadline=Deadline(proof.clock, context.deadline.at), report=best.hear)
    while best.placement is not None:
        proof.better = False
        improve(best.problem, best.placement, searching, beside)
        if not proof.better or context.deadline.expired():
            break
    while not proof.job.ended and not context.deadline.expired():
        proof.job.wait(min(LOOK_EVERY_S, context.deadline.remaining()))
        proof.listen()
    proof.listen()


def _conclusion(first: Suggestion, proof: _Proof, context: Context) -> Suggestion:
    best, exact = proof.best, proof.exact
    if exact is not None and exact.proved:
        if exact.placement is None:
            return Suggestion(None, exact.reason, proved=True)
        settled = descend(best.problem, exact.placement, Deadline.none())
        # Only a solver's tolerance can let the search be ahead of the proof.
        ahead = best.placement is not None and best.rank[0] < settled.rank[0]
        placement = best.placement if ahead else settled.placement
        return Suggestion(placement, exact.reason, bound=best.bound, proved=True)
    if context.deadline.expired():
        reason = "the deadline ended the search and the proof"
    else:
        reason = f"the search ended, the proof failed: {proof.job.failure or 'it ended without one'}"
    if best.placement is None:
        return replace(first, reason=f"{first.reason}; {reason}")
    return Suggestion(best.placement, reason, bound=best.bound)


class _Best:
    """The best placement and the best bound, whoever found them; reports every improvement."""

    def __init__(self, problem: Problem, context: Context) -> None:
        self.problem = problem
        self.placement: IntArray | None = None
        self.rank: Rank = (0, 0)
        self._objective = math.inf
        self._bound = -math.inf
        self._report = context.report

    @property
    def bound(self) -> float | None:
        """The bound, at most F of the best placement: solvers have tolerances."""
        return None if self._bound == -math.inf else min(self._bound, self._objective)

    def offer(self, placement: IntArray, source: str) -> bool:
        """Take a placement if it is feasible and better; return whether F became lower."""
        worth = evaluate(self.problem, placement)
        if (self.placement is not None and worth.rank >= self.rank) or check(self.problem, placement):
            return False
        lower = self.placement is None or worth.rank[0] < self.rank[0]
        self.placement, self.rank, self._objective = placement, worth.rank, worth.objective
        self._tell(source)
        return lower

    def hear(self, progress: Progress, /) -> None:
        """Take what the search reports."""
        if progress.placement is not None:
            self.offer(progress.placement, progress.source)

    def hear_of_proof(self, progress: Progress) -> bool:
        """Take what the exact solver reports; return whether F became lower."""
        if progress.bound is not None and progress.bound > self._bound:
            self._bound = progress.bound
            self._tell(progress.source)
        return progress.placement is not None and self.offer(progress.placement, progress.source)

    def _tell(self, source: str) -> None:
        if self.placement is not None:
            self._report(Progress(self._objective, self.bound, source, self.placement))


@dataclass(frozen=True, eq=False)
class _Question:
    """What the exact solver is asked; `children` are what starts its solvers."""

    problem: Problem
    start: IntArray | None
    children: Children


class _Proof:
    """The exact solver at work in a child.

    Attributes:
        job: The child.
        best: Takes what the solver reports.
        exact: Its answer, once it is there.
        better: Whether it has reported a placement of lower F since this was last set to False.
    """

    def __init__(self, problem: Problem, best: _Best, context: Context) -> None:
        deadline = context.deadline
        if context.children is INLINE and not deadline.unlimited:
            deadline = deadline.within(INLINE_SHARE * deadline.remaining())
        self.best = best
        self.exact: Exact | None = None
        self.better = False
        self._clock = context.deadline.clock
        question = _Question(problem, best.placement, context.children)
        self.job: Job[Progress | Exact] = context.children.start(prove, question, deadline)

    def listen(self) -> None:
        """Take in what the solver has said."""
        for message in self.job.messages():
            if isinstance(message, Exact):
                self.exact = message
            elif self.best.hear_of_proof(message):
                self.better = True

    def clock(self) -> float:
        """Return the time; infinity once the search beside has to end for what is proved, or better."""
        self.listen()
        proved = self.exact is not None and self.exact.proved
        return math.inf if proved or self.better else self._clock()


def prove(question: _Question, deadline: Deadline, say: Callable[[Progress | Exact], None]) -> None:
    """Search for a proof in a child; says progress and at last the answer."""
    context = Context(np.random.default_rng(0), deadline, question.children, say)
    say(solve_exact(question.problem, question.start, context))
