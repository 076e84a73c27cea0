"""Co-location: neighbours that exchange much and are light share a node (paper 002, section IV-C)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.metrics.placement_cost import LOAD, PLACEMENT_COST

if TYPE_CHECKING:
    from collections.abc import Collection

    from scheduler.model.problem import Problem

SHARE = 0.2
"""Pairs per free operator; the paper found it by trial."""


def colocated(
    problem: Problem, share: float = SHARE, apart_from: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the pairs with the highest scores (eq. 10), by names; among equals the first.

    The score is the traffic of a pair by its mean placement costs and loads. Sources and sinks have no part,
    as a pair with one of these would be a pin; capacities are not looked at. Pairs may form chains.

    Args:
        problem: The problem.
        share: Pairs per free operator, rounded down.
        apart_from: Operators that form no pairs; they count as free all the same.
    """
    application = problem.application
    operators, terminal = application.operators, application.terminal
    free = ~terminal & problem.movable
    places = problem.terms.places.get(PLACEMENT_COST.name, np.zeros(problem.n_nodes))
    mean = np.broadcast_to(places, (problem.n_ops, problem.n_nodes)).mean(axis=1)
    weight = mean + np.array([each.demand.get(LOAD, 0.0) for each in operators])
    traffic: dict[tuple[int, int], float] = {}
    sent = application.rate * application.tuple_bytes
    for (i, j), each in zip(application.edges(), sent.tolist(), strict=True):
        ends = {operators[i].name, operators[j].name}
        if i != j and free[i] and free[j] and not ends & set(apart_from):
            pair = (i, j) if (j, i) not in traffic else (j, i)
            traffic[pair] = traffic.get(pair, 0.0) + each

    def score(pair: tuple[int, int]) -> float:
        denominator = float(weight[pair[0]] + weight[pair[1]])
        return traffic[pair] / denominator if denominator > 0 else math.inf

    most = math.floor(share * int((~terminal & problem.movable).sum()) + 1e-9)
    best = sorted(traffic, key=score, reverse=True)[:most]
    return tuple((operators[i].name, operators[j].name) for i, j in best)
