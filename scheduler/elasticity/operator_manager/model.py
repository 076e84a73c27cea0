"""What a model-based operator manager has learned, and how it learns (paper 004, sections 6.2.2 and 7.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.elasticity.learning.choice import ACTIONS, greedy
from scheduler.elasticity.learning.estimates import Fit, averaged, clamped, fitted
from scheduler.elasticity.learning.transitions import counted, first_counts, probabilities
from scheduler.elasticity.operator_manager.queue_model import least_executors
from scheduler.elasticity.useful import effective

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters


@dataclass(frozen=True, eq=False)
class OperatorModel:
    """Estimates over states (k, x): k executors, a row for each of K choices, and x the level of the rate.

    Attributes:
        counts: (L, L) n[x,x'], how often a level was followed by another.
        unknown: (K, L) cu, estimated cost of being in a state that cannot be computed beforehand.
        seen: (K, L) how often each estimate was updated.
        fit: (K, L) cu as it is read where estimates are kept.
        worth: (K, L, 3) Q, cost to come of each action of `ACTIONS`; infinite where it is not allowed. Where
            more than one step may be taken at once, of the best number of them.
        reached: (K, L) cost to come of running k executors after a level, what k executors cost left out.
    """

    counts: FloatArray
    unknown: FloatArray
    seen: FloatArray
    fit: Fit
    worth: FloatArray
    reached: FloatArray

    @classmethod
    def first(cls, parameters: ModelBasedParameters) -> OperatorModel:
        """Return what is known at the beginning."""
        shape = (len(parameters.choices), parameters.levels)
        worth = np.where(_allowed(parameters)[:, None, :], 0.0, np.inf)
        unknown = first_unknown(parameters)
        return cls(
            first_counts(parameters.levels),
            unknown,
            frozen(np.zeros(shape)),
            fitted(unknown, np.ones(shape)),
            frozen(np.broadcast_to(worth, (*shape, 3)).copy()),
            frozen(np.zeros(shape)),
        )

    def followed(self, before: int, after: int) -> OperatorModel:
        """Count that a level was followed by another one."""
        counts = counted(self.counts, before, after)
        return OperatorModel(counts, self.unknown, self.seen, self.fit, self.worth, self.reached)

    def charged(
        self, executors: int, level: int, paid: float, parameters: ModelBasedParameters
    ) -> OperatorModel:
        """Learn what a state has cost beyond what was known (eq. 5).

        Args:
            executors: k + a, which ran in the interval.
            level: x', of the arrival rate in it.
            paid: c - ck(k, a).
            parameters: Of the manager.
        """
        row = parameters.row(executors)
        value = averaged(float(self.unknown[row, level]), paid, parameters.learning_rate)
        seen = self.seen.copy()
        seen[row, level] += 1.0
        if not parameters.keep_estimates:
            unknown = clamped(self.unknown, row, level, value)
            return OperatorModel(self.counts, unknown, frozen(seen), self.fit, self.worth, self.reached)
        unknown = self.unknown.copy()
        unknown[row, level] = value
        return replace(self, seen=frozen(seen)).with_estimates(frozen(unknown), parameters)

    def with_estimates(self, unknown: FloatArray, parameters: ModelBasedParameters) -> OperatorModel:
        """Return the model with other estimates, and with what is read off them."""
        # an average with a constant rate remembers about as many values; a first guess weighs as one
        remembered = (2.0 - parameters.learning_rate) / parameters.learning_rate
        weights = np.minimum(self.seen + 1.0, remembered)
        # estimates that are read as they are are in order, whatever they weigh
        as_read = bool((unknown == self.fit.table).all())
        fit = self.fit if as_read else fitted(unknown, weights, self.fit)
        return replace(self, unknown=unknown, fit=fit)

    def expected(self, parameters: ModelBasedParameters) -> FloatArray:
        """(K, L) cu as it is read: the estimates, or the nearest ones that do not contradict each other."""
        return self.fit.table if parameters.keep_estimates else self.unknown

    def swept(self, parameters: ModelBasedParameters, sweeps: int = 1) -> OperatorModel:
        """Back up the worth of every state and action, all at once in each sweep.

        Q(s,a) = ck(k,a) + sum_x' P(x'|x) (cu(k+a,x') + gamma min_b Q((k+a,x'),b)). Since k + a is certain,
        the sum is the same for all states from which k + a is reached, however many steps are taken at once:
        K L^2 multiplications.
        """
        chances, unknown = probabilities(self.counts), self.expected(parameters)
        costs, rows = parameters.resource_costs[:, None], len(parameters.choices)
        steps, fewest = min(parameters.steps, rows), parameters.row(parameters.executors_min)
        changing = parameters.weights.reconfiguration + costs
        # before the first and after the last there are so many rows that no step ends outside
        there = np.full((rows + 2 * steps, parameters.levels), np.inf)
        worth, reached = self.worth, self.reached
        for _ in range(sweeps):
            # numpy takes the least of three tables several times as fast as the least along a short axis
            least = np.minimum(np.minimum(worth[:, :, 0], worth[:, :, 1]), worth[:, :, 2])
            reached = (unknown + parameters.discount * least) @ chances.T
            there[steps + fewest : steps + rows] = (changing + reached)[fewest:]
            best, of_actions = _least_within(there, steps), np.empty((len(ACTIONS), *reached.shape))
            of_actions[0] = costs + reached
            of_actions[1], of_actions[2] = best[:rows], best[steps + 1 :]
            worth = of_actions.transpose(1, 2, 0)
        return OperatorModel(self.counts, self.unknown, self.seen, self.fit, frozen(worth), frozen(reached))

    def change(self, executors: int, level: int, parameters: ModelBasedParameters) -> int:
        """Return how many executors more or less cost the least to come; of equal changes none, then fewer,
        then the smallest.

        Args:
            executors: That run.
            level: Of the arrival rate.
            parameters: Of the manager.
        """
        choices, row = parameters.choices, parameters.row(executors)
        action = greedy(self.worth[row, level])
        if not action:
            return 0
        there = parameters.resource_costs + self.reached[:, level]
        rows = [row + action * n for n in range(1, parameters.steps + 1)]
        allowed = [each for each in rows if parameters.row(parameters.executors_min) <= each < len(choices)]
        return choices[min(allowed, key=lambda each: float(there[each]))] - executors


def _least_within(table: FloatArray, steps: int) -> FloatArray:
    """(n - steps + 1, L) least of every `steps` rows that follow each other, in log2(steps) passes."""
    least, width = table, 1
    while width < steps:
        further = min(width, steps - width)
        least, width = np.minimum(least[:-further], least[further:]), width + further
    return least


@lru_cache(maxsize=256)
def first_unknown(parameters: ModelBasedParameters) -> FloatArray:
    """(K, L) estimates before anything was paid: zeros, or what queues predict at the middle of a level."""
    levels = parameters.levels
    first = np.zeros((len(parameters.choices), levels))
    does = np.array([effective(parameters.tasks, k) for k in parameters.choices])
    if parameters.start_from_queues:
        for level in range(levels):
            rate = (level + 0.5) / levels * parameters.rate_max
            needed = _needed(rate, parameters)
            first[does < needed, level] = parameters.weights.performance
    return frozen(first)


def _needed(rate: float, parameters: ModelBasedParameters) -> float:
    """Return what executors (rungs) have to do for a rate, by queues; more than the most do if none will."""
    most = parameters.executors_max
    if parameters.joint:
        assert parameters.path is not None  # noqa: S101  # it is checked beside joint
        return int(np.searchsorted(parameters.path.ladder.kept, rate)) + 1
    if parameters.path is None or not parameters.share_bound:
        assert parameters.service_rate is not None  # noqa: S101  # it is checked beside start_from_queues
        return least_executors(rate, parameters.service_rate, parameters.response_max_ms, most) or most + 1
    place = parameters.path.place(parameters.component)
    assert place is not None  # noqa: S101  # it is checked with the parameters
    needed = parameters.path.least(rate / parameters.path.parts[place].per_item)
    return most + 1 if needed is None else effective(parameters.tasks, needed[place])


@lru_cache(maxsize=256)
def _allowed(parameters: ModelBasedParameters) -> BoolArray:
    """(K, 3) whether each action is allowed with k executors."""
    rows = np.arange(len(parameters.choices))[:, None] + np.array(ACTIONS)
    within = (rows >= parameters.row(parameters.executors_min)) & (rows < len(parameters.choices))
    allowed: BoolArray = within | (np.array(ACTIONS) == 0)  # staying always is, also below the least
    allowed.flags.writeable = False
    return allowed
