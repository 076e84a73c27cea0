"""`greedy-no-penalty`: greedy first-fit over nodes as they are listed (paper 000, section 7.1, no delta)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.first_fit import NodeOrder, breadth_first_operators, place_in_order
from scheduler.contract.strategy import Context, NoParameters, StrategyEntry, Suggestion

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def greedy_no_penalty(problem: Problem, _parameters: NoParameters, _context: Context, /) -> Suggestion:
    """Place operators breadth-first on the first fitting node, nodes in their given order.

    Complexity: see `place_in_order`.
    """
    return place_in_order(problem, NodeOrder(np.arange(problem.n_nodes)), breadth_first_operators(problem))


ENTRY = StrategyEntry(
    name="greedy-no-penalty",
    solve=greedy_no_penalty,
    parameters=NoParameters,
    summary="first-fit over nodes as they are listed",
    scales=True,
)
