"""What planning returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.contract.additions import NOTHING_ADDED, Additions

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.evaluation.evaluate import Evaluation

Status = Literal["optimal", "feasible", "infeasible"]


@dataclass(frozen=True, eq=False)
class Result:
    """A placement with its worth, or the reason why there is none.

    Attributes:
        placement: (n_ops,) node index of each operator, read-only; None if infeasible.
        evaluation: Its worth; None if infeasible.
        bound: Proved lower limit of F, or None if not known.
        status: ``optimal`` (proved), ``feasible``, or ``infeasible`` (no placement found; the reason says
            whether it is proved that none exists).
        reason: One sentence.
        strategy: Name of the strategy.
        seed: Seed of its random generator.
        added: Constraints under which the strategy looked for it, beside those of the problem.
        by: Name of the strategy that it chose for this problem, if it chooses among others.
    """

    placement: IntArray | None
    evaluation: Evaluation | None
    bound: float | None
    status: Status
    reason: str
    strategy: str
    seed: int
    by: str | None = None
    added: Additions = NOTHING_ADDED

    @property
    def author(self) -> str:
        """Who found the placement, in words."""
        return self.strategy if self.by is None else f"{self.by} ({self.strategy})"

    @property
    def gap(self) -> float | None:
        """How far F may be above the optimum, as a fraction of F; None if that is not known."""
        if self.evaluation is None or self.bound is None:
            return None
        return relative_gap(self.evaluation.objective, self.bound)


def relative_gap(objective: float, bound: float) -> float | None:
    """Return (F - bound) / |F|, at least 0; None if F is 0 and the bound is below it."""
    missing = max(objective - bound, 0.0)
    if missing == 0.0:
        return 0.0
    return missing / abs(objective) if objective != 0.0 else None
