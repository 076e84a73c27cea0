"""Budgets: a value per operator and node whose sum over the placement is limited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from scheduler.base.checks import ModelError, name, number, shown
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule
from scheduler.model.constraints.names import node_of, operators_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.network import Network
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Budget(Constraint):
    """The values of all operators where they run add up to at most a limit.

    Attributes:
        name: What is spent, such as ``migration``.
        most: The limit (>= 0).
        values: By operator and node (>= 0); 0 where none is given.
    """

    kind: ClassVar[str] = "budget"

    name: str
    most: float
    values: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        name("name", self.name)
        object.__setattr__(self, "most", number("most", self.most))
        if not isinstance(self.values, dict):
            raise ModelError("values", f"expected values by operator and node, got {shown(self.values)}")
        checked = {
            operator: {node: number(f"values.{operator}.{node}", value) for node, value in by_node.items()}
            for operator, by_node in self.values.items()
        }
        object.__setattr__(self, "values", checked)

    def rule(self, problem: Problem, where: str) -> LinearRule:
        """Return one row with the values."""
        table = np.zeros((problem.n_ops, problem.n_nodes))
        operators = operators_of(problem.application, list(self.values), where)
        for i, (operator, by_node) in zip(operators, self.values.items(), strict=True):
            for node, value in by_node.items():
                table[i, node_of(problem.network, node, f"{where}.values.{operator}.{node}")] = value
        rows = LinearRows(np.array([self.most]), Charges.to_one_row(table))
        return LinearRule(self.kind, problem, rows, (f"the budget {self.name}",), "units")

    def within(self, network: Network) -> Self | None:
        """Return this without the nodes that are not there."""
        kept = {
            operator: {node: value for node, value in by_node.items() if node in network.index}
            for operator, by_node in self.values.items()
        }
        return type(self)(self.name, self.most, kept)
