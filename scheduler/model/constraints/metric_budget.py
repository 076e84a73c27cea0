"""Budgets of metrics: the sum of an additive metric is limited (paper 001, eq. 16-17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.base.checks import number, one_of
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

BUDGETED = ("cost", "migration")
"""Metrics that can have a budget."""


@dataclass(frozen=True)
class MetricBudget(Constraint):
    """A metric's sum is at most a limit.

    Attributes:
        metric: One of `BUDGETED`.
        most: The limit, in the unit of the metric (>= 0).
    """

    kind: ClassVar[str] = "budget of a metric"

    metric: str
    most: float

    def __post_init__(self) -> None:
        one_of("metric", self.metric, BUDGETED)
        object.__setattr__(self, "most", number(self.metric, self.most))

    def rule(self, problem: Problem, where: str) -> LinearRule:  # noqa: ARG002  # it names nothing
        """Return one row with the values of places and of links."""
        terms = problem.terms
        places = terms.places.get(self.metric)
        links = [
            Links(
                np.ones(len(problem.application.streams)) if weight is None else weight,
                np.arange(problem.n_nodes),
                Charges.to_one_row(terms.tables[slot].matrix()),
            )
            for slot, weight in terms.links[self.metric]
        ]
        table = None if places is None else np.broadcast_to(places, (problem.n_ops, problem.n_nodes))
        rows = LinearRows(
            np.array([self.most]),
            None if table is None else Charges.to_one_row(table),
            links[0] if links else None,
            None if self.metric not in terms.set_up else terms.set_up[self.metric][None],
        )
        return LinearRule(self.kind, problem, rows, (f"the budget of {self.metric}",), "units")
