"""`even`: operators dealt out in turn, as Storm's even scheduler deals executors; a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.first_fit import NodeOrder, place_in_order
from scheduler.contract.strategy import Context, NoParameters, StrategyEntry, Suggestion

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def even(problem: Problem, _parameters: NoParameters, _context: Context, /) -> Suggestion:
    """Give each operator, in its given order, the next node after the last one taken.

    A node that is full or not allowed is passed over. Delays, rates and weights play no part.

    Complexity: see `place_in_order`.
    """
    return place_in_order(problem, NodeOrder(np.arange(problem.n_nodes), onward=True), range(problem.n_ops))


ENTRY = StrategyEntry(
    name="even",
    solve=even,
    parameters=NoParameters,
    summary="operators dealt out in turn, blind to delays; a reference",
    scales=True,
)
