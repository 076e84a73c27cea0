"""Operators that can run nowhere, as no route has room for a single stream of theirs.

Where an operator may run is narrowed by its neighbours': a node stays only if, for each stream, some node of
the neighbour is reached by a route with room for that stream alone. So terminals behind narrow links draw
operators to them, and may leave one without any node.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray
    from scheduler.model.problem import Problem

FEW = 32
"""Nodes of an operator up to which it narrows those of its neighbours: one with many hardly ever does."""


def stuck_operator(problem: Problem) -> str | None:
    """Return a sentence on an operator that no node is left for; None if there is none."""
    _, stuck = room_for_streams(problem)
    if stuck is None:
        return None
    operators = problem.application.operators
    return (
        f"operator {operators[stuck].name} can run nowhere: no route has bandwidth for its streams alone, "
        f"where its neighbours can run"
        if problem.allowed[stuck].any()
        else f"operator {operators[stuck].name} is allowed on no node"
    )


def room_for_streams(problem: Problem) -> tuple[BoolArray, int | None]:
    """Return (n_ops, n_nodes) where single streams let operators run, and one that has no node left.

    Complexity: O(streams x FEW x n_nodes) times how often nodes of an operator become few.
    """
    allowed = np.array(problem.allowed)
    underlay, application = problem.network.underlay, problem.application
    if underlay is None:
        return allowed, None
    narrowest = underlay.narrowest
    room = narrowest + TOLERANCE * np.maximum(1.0, np.where(np.isfinite(narrowest), narrowest, 1.0))
    flow, incidence = application.rate * application.tuple_bytes, application.incidence
    waiting = deque(np.flatnonzero(allowed.sum(axis=1) <= FEW).tolist())
    while waiting:
        i = waiting.popleft()
        nodes = np.flatnonzero(allowed[i])
        if not len(nodes):
            return allowed, i
        for entry in range(incidence.begins[i], incidence.begins[i + 1]):
            j = int(incidence.partner[entry])
            closer = allowed[j] & (room[nodes] >= flow[incidence.stream[entry]]).any(axis=0)
            if closer.sum() < allowed[j].sum():
                allowed[j] = closer
                if closer.sum() <= FEW:
                    waiting.append(j)
    return allowed, None
