"""Large steps for problems whose graphs share nodes, or pay for nodes once: many operators placed anew.

Which nodes are in use, and which graph is on which of them, decides most of what such a placement is
worth, and single moves lead from one arrangement to another only through worse ones. So whole graphs, or the
contents of some nodes, are taken out and placed anew by beam search (`Beam`), on the nodes in use, on fewer
or on others; where that helps no more, everything is placed anew, graph by graph in another order (P. Shaw,
"Using constraint programming and local search to solve vehicle routing problems", CP 1998).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.evaluation.linear_form import linear_form
from scheduler.model.capacity import TOLERANCE
from scheduler.search.beam import Beam, Trials

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

    Anew = Callable[[np.random.Generator], IntArray | None]
    """Returns placements of everything, (n_ops, k), others each time; None if it has none."""

SIDE_BY_SIDE, MOST_TRIALS = 400, 8
"""Operators, over all steps that are tried side by side, and steps; the best of these is taken."""
WIDTH = 20
"""Partial placements that a beam keeps."""
PATIENCE = 80
"""Steps without a better placement after which everything is placed anew."""
FEWEST, HOPE = 24, 0.3
"""Steps after which that happens sooner, if the placement is worse than the best one by a share that halves
with as many steps more, from this one on."""
CLOSE = 0.02
"""How much worse than the best one, relative, a placement may be for its gains to count as progress."""
LEAST_WORTH = 0.01
"""F that shares are taken of at least."""
LARGEST, BESIDE = 100, 300
"""Operators that move, and operators in all, up to which those that move are placed anew in some ms."""
GRAPHS, TWO_GRAPHS, NODES = 0.45, 0.15, 0.25
"""Chances that a step takes out whole graphs, two of them, and the contents of two nodes; else any."""
SHARE = (0.2, 0.5)
"""Of the operators are taken out then, least and most."""
STEP, ANEW = (0.2, 0.5), (0.5, 0.7)
"""Chances that a node in use is left out, and that others are added: in a step, and for all anew."""
OPENED = 3
"""Nodes that are added."""
HALF = 0.15
"""Ranks of a node by what it costs when filled, a share of all, that make it half as likely to be added."""
PRICES = (0.003, 0.01)
"""Means of the random prices of nodes, in units of F, by which arrangements differ."""


def by_beam(_random: np.random.Generator) -> None:
    """Leave it to the walk."""


def replants(problem: Problem) -> bool:
    """Return whether such steps are worth it: the nodes in use are shared or paid, and operators are few."""
    shared = problem.application.graphs.count > 1 or linear_form(problem).set_up is not None
    few = 1 < int(problem.movable.sum()) <= LARGEST and problem.n_ops <= BESIDE
    return shared and few and problem.n_nodes > 1


class Replanting:
    """A walk over placements of one problem.

    Attributes:
        best: (n_ops,) the best placement met.

    Args:
        problem: The problem.
        placement: (n_ops,) where to start.
        random: Source of chance.
        anew: How to place everything anew, if there is a better way than by a beam without regard to what
            follows; what it returns may break rules.
    """

    def __init__(
        self, problem: Problem, placement: IntArray, random: np.random.Generator, anew: Anew = by_beam
    ) -> None:
        self._problem, self._random, self._anew = problem, random, anew
        self._trials = max(1, min(MOST_TRIALS, SIDE_BY_SIDE // problem.n_ops))
        self._beam, self._constraints = Beam(problem, WIDTH), BatchConstraints(problem)
        self._evaluator = BatchEvaluator(problem)
        self._graph = problem.application.graphs.member
        self.best = self._now = placement
        self._worth = self._least = evaluate(problem, placement).objective
        self._idle = 0
        # (n_nodes,) how likely each node is chosen to be opened; the others are as likely to be closed
        self._appeal = 0.5 ** (np.argsort(np.argsort(_filled_costs(problem))) / (HALF * problem.n_nodes))

    def adopt(self, placement: IntArray) -> None:
        """Go on from a placement that was found elsewhere, if it is better."""
        worth = evaluate(self._problem, placement).objective
        if worth < self._least - OBJECTIVE_STEP:
            self.best = self._now = placement
            self._worth = self._least = worth
            self._idle = 0

    def walk(self, steps: int, deadline: Deadline) -> None:
        """Take some steps, several of them at a time, which takes some ms."""
        for _ in range(0, steps, self._trials):
            if deadline.expired():
                return
            share = HOPE * 0.5 ** (self._idle / FEWEST)
            hopeless = self._idle >= FEWEST and not self._near(share)
            if hopeless or self._idle >= PATIENCE:
                self._begin_anew()
            else:
                self._step()

    def _step(self) -> None:
        found = self._replanted(self._now, self._taken_out())
        self._idle += self._trials
        if found is None:
            return
        placement, worth = found
        better = worth < self._worth - OBJECTIVE_STEP
        if worth <= self._worth:
            self._now, self._worth = placement, worth
        if better and self._near(CLOSE):
            self._idle = 0
        self._remember()

    def _near(self, share: float) -> bool:
        """Return whether the present placement is worse than the best one by no more than a share of it."""
        return self._worth <= self._least + share * max(abs(self._least), LEAST_WORTH)

    def _begin_anew(self) -> None:
        """Place everything anew; else on nodes like those of the best placement, at prices that differ."""
        self._idle = 0
        drawn = self._anew(self._random)
        found = None if drawn is None else self._best_of(drawn)
        if found is None:
            nodes = self._nodes(self.best, *ANEW)
            prices = self._random.exponential(self._random.choice(PRICES), nodes.shape)
            moving = np.broadcast_to(self._problem.movable, (self._trials, self._problem.n_ops))
            found = self._replanted(self.best, Trials(moving, nodes, prices))
        self._now, self._worth = found or (self.best, self._least)
        self._remember()

    def _remember(self) -> None:
        if self._worth < self._least - OBJECTIVE_STEP:
            self.best, self._least = self._now, self._worth

    def _replanted(self, placement: IntArray, trials: Trials) -> tuple[IntArray, float] | None:
        """Return the best other placement that some trials find, with its F; None if none is found."""
        graphs = self._random.permutation(self._problem.application.graphs.count)
        found = self._beam.replanted(placement, trials, graphs)
        return self._best_of(found[(found != placement).any(axis=1)].T)

    def _best_of(self, placements: IntArray) -> tuple[IntArray, float] | None:
        """Return the best of placements (n_ops, k), with its F; None if none meets all constraints."""
        if placements.size:
            placements = placements[:, self._constraints.met(placements)]
        if not placements.size:
            return None
        worth = self._evaluator(placements)[0]
        best = int(worth.argmin())
        return placements[:, best], float(worth[best])

    def _taken_out(self) -> Trials:
        """Return operators to place anew, and nodes for them."""
        random, problem, placement = self._random, self._problem, self._now
        every, kind = (self._trials, problem.n_ops), random.random()
        if kind < GRAPHS:  # the same in all trials, as steps that place few graphs anew are short
            count = problem.application.graphs.count
            taken = _among(random.permutation(count)[: 1 + (kind < TWO_GRAPHS)], count)[self._graph]
            moving = np.broadcast_to(taken, every)
        elif kind < GRAPHS + NODES:
            used = np.unique(placement)
            emptied = random.permuted(np.tile(used, (self._trials, 1)), axis=1)[:, :2]
            moving = (placement == emptied[:, :, None]).any(axis=1)
        else:
            moving = random.random(every) < random.uniform(*SHARE, (self._trials, 1))
        nodes = self._nodes(placement, *STEP)
        return Trials((moving | ~nodes[:, placement]) & problem.movable, nodes, np.zeros(nodes.shape))

    def _nodes(self, placement: IntArray, closes: float, opens: float) -> BoolArray:
        """Return (trials, n_nodes) nodes to use: those in use, by chance one less, by chance some more."""
        random, trials, n = self._random, self._trials, self._problem.n_nodes
        used = _among(placement, n)
        chosen = np.tile(used, (trials, 1))
        # the least of exponential numbers over weights are a weighted choice without replacement
        lots = random.exponential(size=(trials, n))
        most = min(OPENED, n - int(used.sum()))
        opened = np.where(used, np.inf, lots / self._appeal).argsort(axis=1)[:, :most]
        chosen[np.arange(trials)[:, None], opened] = random.random((trials, 1)) < opens
        if used.sum() > 1:
            closed = np.where(used, lots * self._appeal, np.inf).argmin(axis=1)
            chosen[np.arange(trials), closed] = random.random(trials) >= closes
        return chosen


def _among(chosen: IntArray, count: int) -> BoolArray:
    """Return (count,) which indices are among the chosen ones."""
    among = np.zeros(count, dtype=np.bool_)
    among[chosen] = True
    return among


def _filled_costs(problem: Problem) -> FloatArray:
    """Return (n_nodes,) what a node costs per operator, if it is filled with those that suit it best.

    An operator costs what it adds to F there beyond its best node, and counts by what it demands; the charge
    of the node comes to that. Delays are left out.
    """
    form = linear_form(problem)
    own = np.where(problem.allowed, form.unary + form.path_factor * problem.execution_ms, np.inf)
    regret = own - own.min(axis=1, keepdims=True)
    size = (problem.demand / np.maximum(problem.demand.sum(axis=0), TOLERANCE)).max(axis=1, initial=TOLERANCE)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(problem.demand[:, None] > 0, problem.demand[:, None] / problem.capacity, 0.0)
    share = ratio.max(axis=2, initial=0.0)
    order = np.argsort(regret / size[:, None], axis=0)
    fitting = np.take_along_axis(share, order, axis=0).cumsum(axis=0) <= 1.0 + TOLERANCE
    fitting &= np.isfinite(np.take_along_axis(regret, order, axis=0))
    total = np.where(fitting, np.take_along_axis(regret, order, axis=0), 0.0).sum(axis=0)
    if form.set_up is not None:
        total += form.set_up
    held = np.where(fitting, size[order], 0.0).sum(axis=0)
    cost: FloatArray = np.where(held > 0, total / np.maximum(held, TOLERANCE), np.inf)
    return cost
