"""Migration cost C_mig (paper 001, eq. 12-13): what it costs to bring operators to the nodes they move to.

Operators that start for the first time, or whose node is gone, have no price: they have to start somewhere.
What all operators share, such as a topology's jar, is loaded by the first that comes to a node, and has no
price where one of them runs now. Nor has an image that a node holds already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.current import ELSEWHERE, moves_to
from scheduler.model.loading import load_mb
from scheduler.model.metrics.record import AdditiveMetric
from scheduler.model.use import nodes_in_use

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.metrics.record import Range
    from scheduler.model.problem import Problem


def pull_seconds(problem: Problem) -> FloatArray:
    """(n_ops, n_nodes) s that what a node loads of an operator takes there; 0 if it loads nothing."""
    return _seconds(problem, load_mb(problem.application, problem.network))


def _seconds(problem: Problem, loads: FloatArray) -> FloatArray:
    """(n_ops, n_nodes) s that so many MB take; (n_ops, 1) are alike for all nodes."""
    rate = problem.network.pull_mb_per_s
    # where no rate is known nothing has to come, which the problem has checked
    seconds: FloatArray = loads / np.where(rate > 0, rate, np.inf)
    return seconds


def _places(problem: Problem) -> FloatArray | None:
    application = problem.application
    if problem.current is None or not (application.image_mb.any() or application.state_mb.any()):
        return None
    per_second = problem.network.cost[None, :]
    if problem.objective.migration_price == "source":
        per_second = problem.price_left[:, None]
    return np.where(moves_to(problem), pull_seconds(problem) * per_second, 0.0)


def _set_up(problem: Problem) -> FloatArray | None:
    """(n_nodes,) price of loading what all share; None where an operator has to start, whatever it costs."""
    current, charges = problem.current, problem.network.shared_pull_s * problem.network.cost
    if current is None or not charges.any() or not ((current >= 0) | (current == ELSEWHERE)).all():
        return None
    return np.where(nodes_in_use(current, problem.n_nodes), 0.0, charges)


def _bounds(problem: Problem) -> Range:
    """Return 0, if all stay, and the price if each operator came to its dearest node from another one.

    Wherever operators run now, and whatever images nodes hold: a scale that followed the current placement,
    or what it has left behind, would make the next plan weigh the same prices otherwise, and move again.
    """
    application, cost = problem.application, problem.network.cost
    shared = np.sort(problem.network.shared_pull_s * cost)[::-1][: problem.n_ops].sum()
    if not (application.image_mb.any() or application.state_mb.any()):
        return 0.0, float(shared)
    per_second = np.full(len(cost), cost.max()) if problem.objective.migration_price == "source" else cost
    seconds = _seconds(problem, (application.image_mb + application.state_mb)[:, None])
    dearest = np.where(problem.allowed, seconds * per_second, 0.0).max(axis=1)
    return 0.0, float(dearest.sum() + shared)


MIGRATION = AdditiveMetric(
    name="migration", answer="migration_cost", places=_places, bounds=_bounds, set_up=_set_up
)
