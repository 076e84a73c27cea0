"""Kinds of operators: those with the same demand and the same allowed nodes are alike for all constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of a problem's operators.

    Attributes:
        demand: (n_kinds, n_resources) what an operator of each kind demands.
        reach: (n_kinds,) index of its allowed nodes in `Problem.reach`.
        member: (n_ops,) the kind of each operator.
    """

    demand: FloatArray
    reach: IntArray
    member: IntArray

    @staticmethod
    def of(problem: Problem) -> Kinds:
        """Return the kinds, in the order of their first operators."""
        known: dict[tuple[float, ...], int] = {}
        first: list[int] = []
        member = np.empty(problem.n_ops, dtype=np.int64)
        rows = zip(problem.demand.tolist(), problem.reach.member.tolist(), strict=True)
        for i, (demand, reach) in enumerate(rows):
            member[i] = kind = known.setdefault((*demand, reach), len(first))
            if kind == len(first):
                first.append(i)
        return Kinds(problem.demand[first], problem.reach.member[first], member)
