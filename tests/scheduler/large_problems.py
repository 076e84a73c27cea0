"""Problems on networks by coordinates, large enough for what small ones never meet."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pytest

from scheduler.model.link_table import Coordinates
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

WEIGHTS = {"response_time": 0.4, "availability": 0.2, "network_usage": 0.2, "cost": 0.2}


class MakeLarge(Protocol):
    """Makes a seeded problem on a network by coordinates."""

    def __call__(self, seed: int, n_ops: int, n_nodes: int, *, pinned: bool = False) -> Problem: ...


def make(seed: int, n_ops: int, n_nodes: int, *, pinned: bool = False) -> Problem:
    """Three layers, each operator joined to a few of the next one; nodes in sites of ten."""
    random = np.random.default_rng(seed)
    layer = np.sort(np.arange(n_ops) % 3)
    operators = tuple(
        Operator(f"o{i}", float(random.uniform(0.5, 5.0)), allowed=("n3",) if pinned and i == 0 else None)
        for i in range(n_ops)
    )
    streams = [
        Stream(f"o{i}", f"o{j}", float(random.uniform(1, 99)), 100.0)
        for i in range(n_ops)
        for j in random.permutation(np.flatnonzero(layer == layer[i] + 1))[:3]
    ]
    streams += [Stream(f"o{n_ops - 1}", f"o{i}", 5.0, 20.0, critical=False) for i in range(3)]
    centres = random.uniform(0.0, 80.0, (n_nodes // 10 + 1, 2))
    points = centres[np.arange(n_nodes) // 10] + random.normal(0.0, 1.0, (n_nodes, 2))
    nodes = tuple(
        Node(
            f"n{u}",
            {"slots": 2.0},
            speedup=float(random.choice([1.0, 2.0])),
            availability=float(random.uniform(0.95, 1.0)),
            site=f"s{u // 10}",
            cost=float(random.uniform(0.0, 2.0)),
        )
        for u in range(n_nodes)
    )
    coordinates = Coordinates.of(np.column_stack([points, random.uniform(0.0, 1.0, n_nodes)]))
    return Problem(Application(operators, tuple(streams)), Network(nodes, coordinates), Objective(WEIGHTS))


@pytest.fixture(scope="session")
def make_large() -> MakeLarge:
    return make


@pytest.fixture(scope="session")
def wide_network() -> Problem:
    """Thirty operators on 1,500 nodes."""
    return make(1, 30, 1500)
