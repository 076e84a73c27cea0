"""Actions of managers that learn, and the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray

ACTIONS = (0, -1, 1)
"""By their places in tables of worth; of equals the first is taken: no change before less before more."""

_EQUAL = 1e-12


def greedy(worth: FloatArray) -> int:
    """Return the action with the least cost to come.

    Args:
        worth: (3,) Q of each action, infinite where it is not allowed.
    """
    costs: list[float] = worth.tolist()
    least = min(costs)
    return next(action for action, cost in zip(ACTIONS, costs, strict=True) if cost <= least + _EQUAL)
