"""Cost: what the nodes of all operators and the links of all streams ask for, in the user's unit.

A node is paid for each of its operators (paper 001, eq. 11), or once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.metrics.record import AdditiveMetric, LinkTerm

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.problem import Problem


def _places(problem: Problem) -> FloatArray | None:
    return problem.network.cost if problem.objective.cost_model == "per-operator" else None


def _set_up(problem: Problem) -> FloatArray | None:
    return problem.network.cost if problem.objective.cost_model == "per-node" else None


def _links(problem: Problem) -> tuple[LinkTerm, ...]:
    network = problem.network
    return () if network.link_cost is None else (LinkTerm(network.stream_costs),)


COST = AdditiveMetric(name="cost", answer="cost", places=_places, links=_links, set_up=_set_up)
