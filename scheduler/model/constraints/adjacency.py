"""Neighbours side by side: streams go over single links (paper 002, eq. 4 as it is printed)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from scheduler.base.checks import ModelError
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links

if TYPE_CHECKING:
    from scheduler.model.network import Network
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Adjacency(Constraint):
    """Operators that a stream joins run on one node, or on two that a link joins."""

    kind: ClassVar[str] = "adjacent"

    def rule(self, problem: Problem, where: str) -> LinearRule:
        """Return one row: the streams between nodes that no link joins."""
        underlay = problem.network.underlay
        if underlay is None:
            raise ModelError(where, "the network names no links")
        apart = (~underlay.beside).astype(np.float64)
        each = np.ones(len(problem.application.streams))
        rows = LinearRows(
            np.zeros(1), links=Links(each, np.arange(problem.n_nodes), Charges.to_one_row(apart))
        )
        return LinearRule(self.kind, problem, rows, ("the way between nodes that no link joins",), "streams")

    def within(self, network: Network) -> Self | None:
        """Return this if links are known there."""
        return None if network.underlay is None else self
