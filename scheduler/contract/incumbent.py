"""The best placement so far, every candidate checked and evaluated by the core's own code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.contract.strategy import Progress
from scheduler.evaluation.evaluate import check, evaluate

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Report
    from scheduler.evaluation.evaluate import Rank
    from scheduler.model.problem import Problem


class Incumbent:
    """Only ever gets better: lower F, or at equal F a lower mean delay.

    Attributes:
        placement: (n_ops,) or None as long as there is none.
        objective: Its F; infinite without one.
        bound: Proved lower limit of F; minus infinity as long as nothing is known.
        rounding: How much every bound may be too high by rounding, and is lowered before it counts.
    """

    def __init__(self, problem: Problem, report: Report) -> None:
        self.placement: IntArray | None = None
        self.objective = math.inf
        self.bound = -math.inf
        self.rounding = 0.0
        self._rank: Rank | None = None
        self._problem = problem
        self._report = report

    def offer(self, placement: IntArray, source: str) -> bool:
        """Take a placement if it is feasible and better; return whether it was taken."""
        if check(self._problem, placement):
            return False
        worth = evaluate(self._problem, placement)
        if self._rank is not None and worth.rank >= self._rank:
            return False
        self.placement, self.objective, self._rank = placement, worth.objective, worth.rank
        self._tell(source)
        return True

    def raise_bound(self, bound: float, source: str) -> None:
        """Take a lower limit of F, less what rounding may hide, if it is higher than the one known."""
        if bound - self.rounding > self.bound:
            self.bound = bound - self.rounding
            self._tell(source)

    def hear(self, progress: Progress, /) -> None:
        """Take the placement that a search reports."""
        if progress.placement is not None:
            self.offer(progress.placement, progress.source)

    def _tell(self, source: str) -> None:
        known = None if self.bound == -math.inf else min(self.bound, self.objective)
        self._report(Progress(self.objective, known, source, self.placement))
