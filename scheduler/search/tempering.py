"""A population of placements that walk through the neighbourhoods side by side: parallel tempering.

R. H. Swendsen, J.-S. Wang, "Replica Monte Carlo simulation of spin glasses", Physical Review Letters 57(21),
1986; C. J. Geyer, "Markov chain Monte Carlo maximum likelihood", Computing Science and Statistics 23, 1991.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, Rank, rank_of
from scheduler.search.proposals import Proposals

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

COLDEST_ACCEPTS = 0.05
"""Worsening changes that the coldest walker is to accept while each operator that can move gets one."""
HOTTEST_ACCEPTS = 0.15
"""Share of worsening changes that the hottest walker is to accept."""
GUIDE = 0.02
"""Weight of the mean delay among walkers, as a share of F: shows a way where many placements have one F."""
WIDEST_LADDER = 50.0
"""Ratio of the highest to the lowest temperature at most: colder walkers would stand still."""
FEWEST_TRIES, MOST_TRIES = 4, 16
"""Changes proposed to a walker per step: cold ones refuse most, and evaluating more at once costs little."""
STEP_VALUES = 16_000
"""Values per operator and stream that a step evaluates in about a millisecond, most of it not overhead."""
SAMPLES = 20
"""Steps from which the first temperatures are estimated."""
EXCHANGE_EVERY = 10
"""Steps between exchanges of neighbouring walkers."""


class Tempering:
    """Placements, one per column, that accept random changes, each at its own temperature.

    Cold walkers descend, hot ones cross ridges, and walkers that are next to each other exchange their
    placements now and then, so that what hot walkers find is refined by cold ones (parallel tempering).
    Temperatures follow the shares of worsening changes that are accepted, whatever the scale of F is.

    Attributes:
        best: (n_ops,) the best placement met so far, by rank.
        rank: Its rank.
    """

    def __init__(
        self, problem: Problem, placement: IntArray, count: int, random: np.random.Generator
    ) -> None:
        self._random = random
        self._evaluate = BatchEvaluator(problem)
        self._proposals = Proposals(problem, BatchConstraints(problem), random)
        columns = STEP_VALUES // (problem.n_ops + len(problem.application.streams))
        self._tries = min(max(columns // count, FEWEST_TRIES), MOST_TRIES)
        count = max(2, min(count, columns // self._tries))
        movable = max(1, int(problem.movable.sum()))
        self._coldest = min(COLDEST_ACCEPTS / movable, HOTTEST_ACCEPTS / 10.0)
        self._placements = np.repeat(placement[:, None], count, axis=1)
        objective, mean = self._evaluate(self._placements)
        self.best = placement
        self.rank = rank_of(float(objective[0]), float(mean[0]))
        self._guide, self._temperatures = (
            self._calibrated(count) if problem.movable.any() else (0.0, np.ones(count))
        )
        self._energy = objective + self._guide * mean
        self._steps = 0
        self._worse = np.zeros((2, count))

    def _calibrated(self, count: int) -> tuple[float, FloatArray]:
        """Return the weight of the mean delay and first temperatures, from some random changes."""
        start, mean_start = self._evaluate(self._placements[:, :1])
        rises, delays = [], []
        for _ in range(SAMPLES):
            changed, valid = self._proposals.draw(np.tile(self._placements, self._tries))
            objective, mean = self._evaluate(changed)
            rises.append((objective - start)[valid])
            delays.append(np.abs(mean - mean_start)[valid])
        rise, delay = np.concatenate(rises), np.concatenate(delays)
        typical, typical_delay = np.abs(rise).sum(), float(delay.sum())
        guide = GUIDE * float(typical) / typical_delay if typical_delay > 0 else 0.0
        worse = rise[rise > OBJECTIVE_STEP]
        cold, hot = _temperature(worse, self._coldest), _temperature(worse, HOTTEST_ACCEPTS)
        return guide, np.geomspace(cold, max(hot, 2.0 * cold), count)

    def walk(self, steps: int, deadline: Deadline) -> bool:
        """Propose changes to every walker, `steps` times; return whether the best placement improved."""
        before = self.rank
        for _ in range(steps):
            if deadline.expired():
                break
            self._step()
        self._adapt()
        return self.rank < before

    def _step(self) -> None:
        """Let every walker take the first of several random changes that it accepts."""
        count = len(self._energy)
        changed, valid = self._proposals.draw(np.tile(self._placements, self._tries))
        objective, mean = self._evaluate(changed)
        self._remember(changed, np.where(valid, objective, np.inf), mean)
        energy = objective + self._guide * mean
        rise = energy.reshape(self._tries, count) - self._energy
        chance = np.exp(np.minimum(-rise / self._temperatures, 0.0))
        drawn = self._random.random(rise.shape)
        valid = valid.reshape(rise.shape)
        accepted = valid & (drawn < chance)
        worse = valid & (rise > OBJECTIVE_STEP)
        self._worse[0] += worse.sum(axis=0)
        self._worse[1] += (worse & accepted).sum(axis=0)
        moving = np.flatnonzero(accepted.any(axis=0))
        taken = accepted[:, moving].argmax(axis=0) * count + moving
        self._placements[:, moving] = changed[:, taken]
        self._energy[moving] = energy[taken]
        self._steps += 1
        if self._steps % EXCHANGE_EVERY == 0:
            self._exchange()

    def _remember(self, placements: IntArray, objective: FloatArray, mean: FloatArray) -> None:
        """Keep the best of these placements if it ranks below the best so far."""
        column = int(objective.argmin())
        if objective[column] < (self.rank[0] + 1) * OBJECTIVE_STEP:
            rank = rank_of(float(objective[column]), float(mean[column]))
            if rank < self.rank:
                self.rank, self.best = rank, placements[:, column].copy()

    def _exchange(self) -> None:
        """Let pairs of walkers at neighbouring temperatures trade placements, by the rule of Metropolis."""
        colder = np.arange(self._steps // EXCHANGE_EVERY % 2, len(self._energy) - 1, 2)
        hotter = colder + 1
        gain = (self._energy[colder] - self._energy[hotter]) * (
            1.0 / self._temperatures[colder] - 1.0 / self._temperatures[hotter]
        )
        traded = self._random.random(len(colder)) < np.exp(np.minimum(gain, 0.0))
        there, here = (
            np.concatenate([colder[traded], hotter[traded]]),
            np.concatenate([hotter[traded], colder[traded]]),
        )
        self._placements[:, there] = self._placements[:, here]
        self._energy[there] = self._energy[here]

    def _adapt(self) -> None:
        """Move the ends of the ladder of temperatures towards the wanted shares of accepted changes."""
        quarter = max(1, len(self._temperatures) // 4)
        cold, hot = self._temperatures[0], self._temperatures[-1]
        cold *= _correction(self._worse[:, :quarter], self._coldest)
        hot *= _correction(self._worse[:, -quarter:], HOTTEST_ACCEPTS)
        cold = min(max(cold, hot / WIDEST_LADDER), hot / 2.0)
        self._temperatures = np.geomspace(cold, hot, len(self._temperatures))
        self._worse *= 0.5

    def adopt(self, placement: IntArray, rank: Rank) -> None:
        """Make a placement of lower rank, found elsewhere, the best one and the coldest walker's."""
        self.best, self.rank = placement, rank
        self._placements[:, 0] = placement
        objective, mean = self._evaluate(placement[:, None])
        self._energy[0] = float(objective[0] + self._guide * mean[0])


def _temperature(rises: FloatArray, share: float) -> float:
    """Return the temperature at which that share of these rises is accepted, by bisection of its log."""
    if not rises.size:
        return OBJECTIVE_STEP
    low, high = math.log(OBJECTIVE_STEP / 100.0), math.log(float(rises.max()) * 100.0)
    for _ in range(40):
        middle = (low + high) / 2.0
        if np.exp(-rises / math.exp(middle)).mean() < share:
            low = middle
        else:
            high = middle
    return math.exp(high)


def _correction(worse: FloatArray, wanted: float) -> float:
    """Return the factor for a temperature at which too many or too few worsening changes were accepted."""
    proposed, accepted = worse.sum(axis=1)
    if proposed == 0:
        return 1.0
    share = (accepted + wanted) / (proposed + 1.0)
    return float(np.clip(math.sqrt(wanted / share), 0.7, 1.4))
