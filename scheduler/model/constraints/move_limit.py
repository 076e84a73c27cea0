"""A limit on how many operators leave the node where they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule
from scheduler.model.current import moves_to

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class MoveLimit(Constraint):
    """At most so many operators move; those that run nowhere yet, or whose node is gone, do not count.

    Attributes:
        most: How many (>= 0).
    """

    kind: ClassVar[str] = "moves"

    most: int

    def __post_init__(self) -> None:
        whole_number("most", self.most, 0)

    def rule(self, problem: Problem, where: str) -> LinearRule:  # noqa: ARG002  # it names nothing
        """Return one row with 1 for every move."""
        charges = Charges.to_one_row(moves_to(problem).astype(np.float64))
        rows = LinearRows(np.array([float(self.most)]), charges)
        return LinearRule(self.kind, problem, rows, ("the limit on moves",), "operators")
