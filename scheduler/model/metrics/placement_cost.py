"""Placement cost P (paper 002, eq. 5): what operators cost where they run, by operator and node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.metrics.record import AdditiveMetric

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.problem import Problem

LOAD = "load"
"""The resource whose units nodes have a price of."""


def _places(problem: Problem) -> FloatArray | None:
    operators, network = problem.application.operators, problem.network
    if not network.unit_cost.any() and all(each.placement_cost is None for each in operators):
        return None
    load = np.array([each.demand.get(LOAD, 0.0) for each in operators])
    costs = load[:, None] * network.unit_cost
    for i, each in enumerate(operators):
        given = each.placement_cost
        if isinstance(given, int | float):
            costs[i] = given
        elif given is not None:
            for node, value in given.items():
                if node in network.index:  # a part of a network lacks some
                    costs[i, network.index[node]] = value
    return costs


PLACEMENT_COST = AdditiveMetric(
    name="placement_cost", answer="placement_cost", places=_places, default_range=(0.0, 1.0)
)
"""With its range of [0, 1] F is the paper's cost (eq. 7)."""
