"""The best placement so far, every candidate checked and evaluated by the core's own code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.contract.strategy import Progress, Report, Suggestion
from scheduler.evaluation.evaluate import Rank, check, evaluate

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

WORST: Rank = (2**62, 0)
"""A rank above that of every placement."""


class Incumbent:
    """Only ever gets better: lower F, or at equal F a lower mean delay. Reports whenever it does.

    Args:
        problem: The problem.
        report: Receives every improvement, of the placement and of the bound.

    Attributes:
        problem: The problem.
        placement: (n_ops,) or None as long as there is none.
        objective: Its F; infinite without one.
        rank: Its rank; `WORST` without one.
        bound: Proved lower limit of F; minus infinity as long as nothing is known.
        rounding: How much every bound may be too high by rounding, and is lowered before it counts.
    """

    def __init__(self, problem: Problem, report: Report) -> None:
        self.problem = problem
        self.placement: IntArray | None = None
        self.objective = math.inf
        self.rank = WORST
        self.bound = -math.inf
        self.rounding = 0.0
        self._report = report

    @property
    def known_bound(self) -> float | None:
        """The bound, at most F of the placement, as solvers have tolerances; None if nothing is known."""
        return None if self.bound == -math.inf else min(self.bound, self.objective)

    def begin(self, placement: IntArray) -> None:
        """Start from a feasible placement that is reported already."""
        worth = evaluate(self.problem, placement)
        self.placement, self.objective, self.rank = placement, worth.objective, worth.rank

    def offer(self, placement: IntArray, source: str) -> bool:
        """Take a placement if it is feasible and better; return whether it was taken."""
        worth = evaluate(self.problem, placement)
        if worth.rank >= self.rank or check(self.problem, placement):
            return False
        self.placement, self.objective, self.rank = placement, worth.objective, worth.rank
        self._tell(source)
        return True

    def raise_bound(self, bound: float, source: str) -> None:
        """Take a lower limit of F, less what rounding may hide, if it is higher than the one known."""
        if bound - self.rounding > self.bound:
            self.bound = bound - self.rounding
            self._tell(source)

    def take(self, progress: Progress, /) -> None:
        """Take the bound and the placement that a search reports."""
        if progress.bound is not None:
            self.raise_bound(progress.bound, progress.source)
        if progress.placement is not None:
            self.offer(progress.placement, progress.source)

    def suggestion(self, reason: str, *, proved: bool = False) -> Suggestion:
        """Return what is known as a strategy's answer."""
        return Suggestion(self.placement, reason, self.known_bound, proved)

    def _tell(self, source: str) -> None:
        self._report(Progress(self.objective, self.known_bound, source, self.placement))
