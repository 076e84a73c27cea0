"""Capacities of nodes (eq. 1): what is left, what fits, what is over-full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem

TOLERANCE = 1e-9
"""Amounts that differ by less are equal: ten times 0.1 fits 1."""


def demanded(problem: Problem, placement: IntArray) -> FloatArray:
    """Return (n_nodes, n_resources) what the placed operators demand; negative indices are unplaced."""
    load = np.zeros_like(problem.capacity)
    placed = placement >= 0
    np.add.at(load, placement[placed], problem.demand[placed])
    return load


def remaining(problem: Problem, placement: IntArray) -> FloatArray:
    """Return (n_nodes, n_resources) the capacity left over."""
    return problem.capacity - demanded(problem, placement)


def fits(demand: FloatArray, free: FloatArray) -> BoolArray:
    """Return whether a demand (..., n_resources) fits what is free (..., n_resources), broadcasting."""
    fitting: BoolArray = np.all(demand <= free + TOLERANCE, axis=-1)
    return fitting


def most_members(demand: FloatArray, free: FloatArray) -> FloatArray:
    """Return how many demands (..., n_resources) fit what is free (..., n_resources), perhaps inf."""
    wanted = demand > 0
    ratio = np.where(wanted, (free + TOLERANCE) / np.where(wanted, demand, 1.0), np.inf)
    most: FloatArray = np.floor(ratio.min(axis=-1, initial=np.inf))
    return np.maximum(most, 0.0)


def over_full(problem: Problem, placement: IntArray) -> list[tuple[int, str, float, float]]:
    """Return (node, resource, demanded, capacity) of every capacity that the placement exceeds."""
    load = demanded(problem, placement)
    return [
        (int(u), problem.resources[r], float(load[u, r]), float(problem.capacity[u, r]))
        for u, r in np.argwhere(load > problem.capacity + TOLERANCE)
    ]
