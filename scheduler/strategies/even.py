"""`even`: operators dealt out in turn, as Storm's even scheduler deals executors; a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.first_fit import place_in_order

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.problem import Problem
    from scheduler.strategy import Context, NoParameters, Suggestion


def even(problem: Problem, _parameters: NoParameters, _context: Context, /) -> Suggestion:
    """Give each operator, in its given order, the next node after the last one taken.

    A node that is full or not allowed is passed over. Delays, rates and weights play no part.

    Complexity: O(n_ops x n_nodes).
    """
    count = problem.n_nodes

    def after(last: int | None, /) -> IntArray:
        first = 0 if last is None else last + 1
        return np.arange(first, first + count) % count

    return place_in_order(problem, after, range(problem.n_ops))
