"""Co-location: operators that share a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.base.arrays import BoolArray, IntArray, ints
from scheduler.base.checks import ModelError, distinct_names, shown
from scheduler.model.capacity import TOLERANCE, fits
from scheduler.model.constraints.constraint import Constraint, Rule
from scheduler.model.constraints.linear import Charges, LinearRows
from scheduler.model.constraints.names import listed, operators_of

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class CoLocation(Constraint):
    """These operators run on one node, whichever it is.

    Attributes:
        operators: Names, at least two, each once.
    """

    kind: ClassVar[str] = "together"

    operators: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", distinct_names("operators", self.operators))
        if len(self.operators) < 2:
            raise ModelError("operators", f"expected two or more, got {shown(self.operators[0])} alone")

    def rule(self, problem: Problem, where: str) -> CoLocationRule:
        """Return the rule for these operators."""
        return CoLocationRule(problem, ints(sorted(operators_of(problem.application, self.operators, where))))


@dataclass(frozen=True, eq=False)
class CoLocationRule(Rule):
    """Operators that share a node.

    Attributes:
        problem: The problem.
        members: The operators, ascending.
        kind: That of its record.
    """

    problem: Problem
    members: IntArray
    kind: str = CoLocation.kind

    def together(self) -> tuple[IntArray, ...]:
        """Return the members: none can leave the others."""
        return (self.members,)

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether those that are placed share a node with room for the others too.

        Complexity: O(n_ops x n_placements) per resource.
        """
        where = placements[self.members]
        node = where.max(axis=0)
        met: BoolArray = ((where == node) | (where < 0)).all(axis=0)
        waiting = np.flatnonzero(met & (node >= 0) & (where < 0).any(axis=0))
        if waiting.size:
            here = placements[:, waiting] == node[waiting]
            here[self.members] = True
            load = self.problem.demand.T @ here
            met[waiting] = (load <= self.problem.capacity[node[waiting]].T + TOLERANCE).all(axis=0)
        return met

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return one sentence if the operators are on several nodes."""
        used = np.unique(placement[self.members])
        if len(used) == 1:
            return ()
        nodes = listed([self.problem.network.nodes[u].name for u in used])
        return (f"operators {self._names()} have to share a node and are on {nodes}",)

    def conflict(self) -> str | None:
        """Return why no node takes all of the operators, if that is so."""
        allowed = self.problem.allowed[self.members].all(axis=0)
        if not allowed.any():
            return f"operators {self._names()} have to share a node, and none is allowed for all of them"
        demand = self.problem.demand[self.members].sum(axis=0)
        if (allowed & fits(demand, self.problem.capacity)).any():
            return None
        return f"operators {self._names()} have to share a node, and none allowed for them has room for all"

    def rows(self) -> LinearRows:
        """Return x_(i,u) <= x_(j,u) for every node u and each member i with the next one j, in a circle."""
        count, n_nodes = len(self.members), self.problem.n_nodes
        row = np.zeros((2, self.problem.n_ops, n_nodes), dtype=np.int64)
        value = np.zeros(row.shape)
        own = np.arange(count * n_nodes).reshape(count, n_nodes)
        row[0, self.members], value[0, self.members] = own, 1.0
        row[1, self.members], value[1, self.members] = np.roll(own, 1, axis=0), -1.0
        return LinearRows(np.zeros(count * n_nodes), Charges(row, value))

    def _names(self) -> str:
        return listed([self.problem.application.operators[i].name for i in self.members])
