"""What planning returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.evaluation import Evaluation

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
    """

    placement: IntArray | None
    evaluation: Evaluation | None
    bound: float | None
    status: Status
    reason: str
    strategy: str
    seed: int
