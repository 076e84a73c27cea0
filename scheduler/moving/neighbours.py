"""The placements beside one: a single operator goes to another node, or all of a node do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.moving.step_worth import StepWorth

_MOST = 1 << 16
"""Neighbours that are looked at; where there are more, none is."""


class Neighbours:
    """A placement and its neighbours.

    Args:
        worth: What placements are worth.
        here: (n_ops,) the placement.

    Attributes:
        placements: (n_ops, n_placements) that placement, then its neighbours.
    """

    def __init__(self, worth: StepWorth, here: IntArray) -> None:
        n_nodes = worth.problems[0].n_nodes
        groups = [np.flatnonzero(here == u) for u in np.unique(here)]
        groups = [each for each in groups if each.size > 1]
        if (len(here) + len(groups)) * n_nodes > _MOST:
            here_only = here[:, None]
            self.placements, self._others, self._singles = here_only, here_only, None
        else:
            singles = _moved(here, [np.array([i]) for i in range(len(here))], n_nodes)
            away = np.ones((len(here), n_nodes), dtype=np.bool_)
            away[np.arange(len(here)), here] = False
            self._others = np.column_stack([here, _moved(here, groups, n_nodes)])
            self._singles = away
            self.placements = np.column_stack([self._others, singles[:, away.ravel()]])
        self._here = here
        self._worth = worth
        self._known: dict[int, FloatArray] = {}

    def of_steps(self, first: int, last: int) -> FloatArray:
        """Return (n_steps, n_placements) what steps from `first` to before `last` are worth in them."""
        return self._worth.by_steps(self._of_problem, self.placements, first, last)

    def _of_problem(self, k: int) -> FloatArray:
        if k not in self._known:
            others = self._worth.of_problem(k, self._others)
            if self._singles is None:
                self._known[k] = others
            elif np.isfinite(others[0]):
                singles = self._worth.of_single_moves(k, self._here)[self._singles]
                self._known[k] = np.concatenate([others, singles])
            else:
                self._known[k] = self._worth.of_problem(k, self.placements)
        return self._known[k]


def _moved(here: IntArray, groups: list[IntArray], n_nodes: int) -> IntArray:
    """Return (n_ops, len(groups) * n_nodes) the placement with each group of operators on each node."""
    near = np.repeat(here[:, None], len(groups) * n_nodes, axis=1)
    for number, group in enumerate(groups):
        near[group, number * n_nodes : (number + 1) * n_nodes] = np.arange(n_nodes)
    return near
