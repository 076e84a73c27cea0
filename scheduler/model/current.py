"""The current placement: marks of operators that run on no node of the problem, and what is a move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray
    from scheduler.model.problem import Problem

UNPLACED = -1
"""The operator runs nowhere yet."""

ELSEWHERE = -2
"""It runs on a node that this problem, a part of another one, leaves out."""

GONE = -3
"""It ran on a node that is there no more: it has to start anew, whatever that costs."""

MARKS = (UNPLACED, ELSEWHERE, GONE)
"""All of them."""


def moves_to(problem: Problem) -> BoolArray:
    """(n_ops, n_nodes) whether an operator that runs would move by going to a node; a first start is none."""
    if problem.current is None:
        return np.zeros((problem.n_ops, problem.n_nodes), dtype=np.bool_)
    running = (problem.current != UNPLACED) & (problem.current != GONE)
    return np.asarray(running[:, None] & (problem.current[:, None] != np.arange(problem.n_nodes)))
