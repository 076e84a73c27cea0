"""Random re-placement: an application that runs somewhere, nodes with prices and rates of loading images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from scheduler.model.application import ONLY_GRAPH, Application, Operator, Stream
from scheduler.model.current import UNPLACED
from scheduler.model.network import Network, Node
from scheduler.model.objective import Objective
from scheduler.model.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import IntArray

Shape = Literal["chain", "tree", "dag"]
WEIGHTS = {"response_time": 0.25, "availability": 0.25, "cost": 0.25, "migration": 0.25}
_DENSITY = 0.3
"""Probability of a further stream between two operators of a DAG."""


def replacement(
    shape: Shape | Sequence[Shape],
    operators: int,
    nodes: int,
    random: np.random.Generator,
    cost_model: Literal["per-operator", "per-node"] = "per-operator",
) -> Problem:
    """Return a random problem without a current placement; `running` gives it one.

    A node holds about as many operators as one topology has, so that several of them have to share.

    Values are of the size of paper 001's experiment: 50 to 1,000 ms per tuple, images of 50 to 500 MB, delays
    up to 400 ms, prices of 1 to 30 units per second.

    Args:
        shape: Of the topology, or of each of several.
        operators: How many of each.
        nodes: How many.
        random: Source of chance.
        cost_model: As of `Objective`.
    """
    graphs = [ONLY_GRAPH] if isinstance(shape, str) else [f"t{k + 1}" for k in range(len(shape))]
    made = tuple(
        Operator(
            f"o{i + 1}",
            float(random.uniform(50.0, 1000.0)),
            {"cpu": float(random.choice([0.5, 1.0, 2.0]))},
            image_mb=float(random.uniform(50.0, 500.0)),
            graph=graphs[i // operators],
        )
        for i in range(len(graphs) * operators)
    )
    places = tuple(
        Node(
            f"n{u + 1}",
            {"cpu": float(max(2.0, np.ceil(random.uniform(0.4, 1.2) * operators)))},
            speedup=float(random.choice([1.0, 1.5, 2.0])),
            availability=float(random.uniform(0.9, 0.999)),
            cost=float(random.uniform(1.0, 30.0)),
            pull_mb_per_s=float(random.uniform(5.0, 50.0)),
        )
        for u in range(nodes)
    )
    where = random.uniform(0.0, 280.0, (nodes, 2))
    delay = np.linalg.norm(where[:, None] - where[None], axis=2)
    edges = [
        (k * operators + i, k * operators + j)
        for k, each in enumerate([shape] if isinstance(shape, str) else shape)
        for i, j in _edges(each, operators, random)
    ]
    streams = tuple(Stream(made[i].name, made[j].name, 1.0, 1.0) for i, j in edges)
    return Problem(
        Application(made, streams), Network(places, delay), Objective(WEIGHTS, cost_model=cost_model)
    )


def _edges(shape: Shape, operators: int, random: np.random.Generator) -> list[tuple[int, int]]:
    if shape == "chain":
        return [(i, i + 1) for i in range(operators - 1)]
    edges = [(int(random.integers(j)), j) for j in range(1, operators)]
    if shape == "dag":
        known = set(edges)
        edges += [
            (i, j)
            for j in range(operators)
            for i in range(j)
            if (i, j) not in known and random.random() < _DENSITY
        ]
    return edges


def running(problem: Problem, placement: IntArray | None = None) -> Problem:
    """Return a problem that runs in a placement, or nowhere."""
    current = np.full(problem.n_ops, UNPLACED) if placement is None else placement
    return Problem(problem.application, problem.network, problem.objective, current, problem.constraints)
