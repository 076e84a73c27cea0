"""What a placement changes about the current one, and what staying is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.constraints.names import listed
from scheduler.model.current import GONE, UNPLACED
from scheduler.model.metrics.migration import MIGRATION, pull_seconds
from scheduler.model.use import nodes_in_use

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Move:
    """An operator that comes to another node.

    Attributes:
        operator: Its name.
        source: Name of the node where it ran, which may be gone.
        target: Name of the node where it is to run.
        pull_s: Time to load image and state there, s, if nothing else is loaded meanwhile.
        cost: Price of that, in cost units; 0 if the node where it ran is gone.
    """

    operator: str
    source: str
    target: str
    pull_s: float
    cost: float


@dataclass(frozen=True)
class Stay:
    """What it is worth to change nothing.

    Attributes:
        worth: Of the current placement.
        violations: What it breaks, one sentence each.
    """

    worth: Evaluation
    violations: tuple[str, ...]


def moves_of(problem: Problem, placement: IntArray) -> tuple[Move, ...]:
    """Return the operators that leave a node, in their order; those that run nowhere yet only start.

    Args:
        problem: The problem, with a current placement.
        placement: (n_ops,) the one to come.
    """
    if problem.current is None:
        return ()
    operators, nodes = problem.application.operators, problem.network.nodes
    seconds, prices = pull_seconds(problem), problem.terms.places[MIGRATION.name]
    moves = []
    for i, (before, after) in enumerate(zip(problem.current.tolist(), placement.tolist(), strict=True)):
        if before == after or (before < 0 and before != GONE):
            continue
        name = operators[i].name
        source = problem.gone[name] if before == GONE else nodes[before].name
        cost = float(prices[i, after] if prices.ndim > 1 else prices[after])
        moves.append(Move(name, source, nodes[after].name, float(seconds[i, after]), cost))
    return tuple(moves)


def loading_s(problem: Problem, placement: IntArray) -> dict[str, float]:
    """Return by name of each node that loads something for how long it does, s.

    What comes to one node shares its link, so that times add up; first starts too, which have no price.

    Args:
        problem: The problem, perhaps with a current placement.
        placement: (n_ops,) the one to come.
    """
    current = np.full(problem.n_ops, UNPLACED) if problem.current is None else problem.current
    own = pull_seconds(problem)[np.arange(problem.n_ops), placement]
    seconds = np.bincount(placement, np.where(placement != current, own, 0.0), problem.n_nodes)
    fresh = nodes_in_use(placement, problem.n_nodes) & ~nodes_in_use(current, problem.n_nodes)
    seconds += np.where(fresh, problem.network.shared_pull_s, 0.0)
    return {problem.network.nodes[u].name: float(seconds[u]) for u in np.flatnonzero(seconds).tolist()}


def without_price(problem: Problem) -> str | None:
    """Return a sentence on operators whose moves are weighed or have a budget, and that load nothing.

    None if there are none, if nothing runs, or if nodes load what all operators share.
    """
    weighed = problem.objective.weights[MIGRATION.name] > 0
    limited = [each for each in problem.constraints if isinstance(each, MetricBudget)]
    asked = weighed or any(each.metric == MIGRATION.name for each in limited)
    if problem.current is None or problem.network.shared_pull_s.any() or not asked:
        return None
    application = problem.application
    nothing = problem.movable & (application.image_mb + application.state_mb == 0)
    names = [application.operators[i].name for i in np.flatnonzero(nothing).tolist()]
    how = "weighed" if weighed else "limited"
    why = "image_mb and state_mb are 0 or missing"
    return f"moves are {how}, and those of {listed(names)} cost nothing: {why}" if names else None


def staying(problem: Problem) -> Stay | None:
    """Return what the current placement is worth; None if there is none, or an operator has no node in it."""
    current = problem.current
    if current is None or (current < 0).any():
        return None
    broken = tuple(each.message for each in check(problem, current))
    return Stay(evaluate(problem, current), broken)
