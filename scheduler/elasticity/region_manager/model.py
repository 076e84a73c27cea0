"""What a model-based region manager has learned, and how it learns (paper 004, section 6.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.elasticity.learning.choice import ACTIONS
from scheduler.elasticity.learning.estimates import averaged, clamped
from scheduler.elasticity.learning.transitions import counted, first_counts, probabilities

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters


@dataclass(frozen=True, eq=False)
class RegionModel:
    """Estimates over states (k, u, f): k hosts, u the level of utilisation, f whether one is idle.

    Attributes:
        levels: (n_levels, n_levels) how often a level was followed by another.
        idle: (3, 2, 2) the same for f, by the action of `ACTIONS` in between.
        unknown: (n_rows, n_levels, 2) cu, estimated cost of being in a state, for want of places.
        worth: (n_rows, n_levels, 2, 3) Q of each action; infinite where it is not allowed.
    """

    levels: FloatArray
    idle: FloatArray
    unknown: FloatArray
    worth: FloatArray

    @classmethod
    def first(cls, parameters: RegionModelParameters) -> RegionModel:
        """Return what is known at the beginning."""
        shape = (parameters.rows, parameters.levels, 2)
        worth = np.where(_allowed(parameters)[:, None], 0.0, np.inf)
        return cls(
            first_counts(parameters.levels),
            frozen(np.stack([first_counts(2)] * len(ACTIONS))),
            frozen(np.zeros(shape)),
            frozen(np.broadcast_to(worth, (*shape, len(ACTIONS))).copy()),
        )

    def followed(self, before: tuple[int, int], action: int, after: tuple[int, int]) -> RegionModel:
        """Count that (u, f) was followed by another, with an action in between.

        The utilisation is taken to move with the load alone, f with f and the action alone (eq. 3).
        """
        place = ACTIONS.index(action)
        idle = self.idle.copy()
        idle[place] = counted(self.idle[place], before[1], after[1])
        return replace(self, levels=counted(self.levels, before[0], after[0]), idle=frozen(idle))

    def charged(
        self, state: tuple[int, int, int], paid: float, parameters: RegionModelParameters
    ) -> RegionModel:
        """Learn what a state has cost beyond what was known (eq. 5).

        The paper's algorithm updates the state before, its equations the one after, which is meant: places
        are missing with the hosts that there are. That more hosts and less load cost no more holds for each
        f apart.

        Args:
            state: (row, u, f) after the action.
            paid: c - ck.
            parameters: Of the manager.
        """
        row, level, idle = state
        value = averaged(float(self.unknown[state]), paid, parameters.learning_rate)
        unknown = self.unknown.copy()
        unknown[:, :, idle] = clamped(self.unknown[:, :, idle], row, level, value)
        return replace(self, unknown=frozen(unknown))

    def swept(self, parameters: RegionModelParameters, sweeps: int = 1) -> RegionModel:
        """Back up the worth of every state and action, all at once in each sweep.

        Q(s,a) = ck(k,a) + sum over u', f' of P(u'|u) P(f'|f,a) (cu(k+a,u',f') + gamma min_b
        Q((k+a,u',f'),b)), since k' = k + a is certain (eq. 2, 3).
        """
        levels, idle = probabilities(self.levels), probabilities(self.idle)
        known, allowed = known_costs(parameters), _allowed(parameters)[:, None]
        worth = self.worth
        for _ in range(sweeps):
            ahead = self.unknown + parameters.discount * worth.min(axis=3)
            # (rows, u, f, action) of ending up in each row
            reached = np.einsum("uv,afg,kvg->kufa", levels, idle, ahead)
            worth = np.full_like(worth, np.inf)
            worth[..., 0] = known[:, None, None, 0] + reached[..., 0]
            worth[1:, ..., 1] = known[1:, None, None, 1] + reached[:-1, ..., 1]
            worth[:-1, ..., 2] = known[:-1, None, None, 2] + reached[1:, ..., 2]
            worth = np.where(allowed, worth, np.inf)
        return replace(self, worth=frozen(worth))


def known_costs(parameters: RegionModelParameters) -> FloatArray:
    """(n_rows, 3) ck = w_r (k + a) / K_max,r + w_h [a != 0] (eq. 4)."""
    hosts = np.arange(parameters.hosts_min, parameters.hosts_max + 1)[:, None] + np.array(ACTIONS)
    changes = np.array(ACTIONS) != 0
    resources = parameters.weights.resources * hosts / parameters.hosts_max
    costs: FloatArray = resources + parameters.weights.host_moves * changes
    return costs


def _allowed(parameters: RegionModelParameters) -> BoolArray:
    """(n_rows, 2, 3) whether each action is allowed with k hosts and f: none goes unless one is idle."""
    allowed = np.ones((parameters.rows, 2, 3), dtype=np.bool_)
    allowed[:, 0, 1] = False
    allowed[0, :, 1] = False
    allowed[-1, :, 2] = False
    return allowed
