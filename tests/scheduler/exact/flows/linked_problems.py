"""Small random problems of places and flows, and all placements of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import metric_sums
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.latency_limit import LatencyLimit
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.network import Node, linked_network
from scheduler.model.problem import Application, Objective, Operator, Problem, Stream
from scheduler.model.underlay import UnderlayLink

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.constraints.constraint import Constraint


def context(seed: int = 0) -> Context:
    """Without a deadline, solvers in this process."""
    return Context(np.random.default_rng(seed), NO_DEADLINE)


def linked(seed: int, *, tight: float = 1.0) -> Problem:
    """Two graphs of two to three operators between pinned ends, on six nodes; some cannot be placed.

    Some have operators that share a node, and some a limit of latency.
    """
    random = np.random.default_rng(seed)
    tiers = ("cloud", "fog", "fog", "edge", "edge", "edge")
    nodes = tuple(
        Node(f"n{u}", {"load": float(random.integers(3, 9))}, tier=tier) for u, tier in enumerate(tiers)
    )
    pairs = {(0, 1), (1, 2), (1, 3), (2, 4), (2, 5)}
    pairs |= {(i, j) for j in range(6) for i in range(j) if random.random() < 0.3}
    links = [
        UnderlayLink(
            (f"n{i}", f"n{j}"),
            cost=float(random.integers(1, 9)),
            delay_ms=float(random.integers(1, 9)),
            bandwidth_bytes_per_s=tight * float(random.integers(8, 30)),
        )
        for i, j in sorted(pairs)
    ]
    operators, streams, constraints = [], [], []
    for graph in ("a", "b"):
        names = [f"{graph}.o{k}" for k in range(int(random.integers(2, 4)))]
        ends = [f"n{u}" for u in random.integers(0, 6, 2)]
        operators += [
            Operator(
                name,
                float(random.integers(0, 4)),
                {"load": float(random.integers(1, 4))},
                graph=graph,
                placement_cost={node.name: float(random.integers(1, 20)) for node in nodes},
            )
            for name in names
        ]
        for end, at in zip(("src", "snk"), ends, strict=True):
            operators.append(Operator(f"{graph}.{end}", demand={}, allowed=(at,), graph=graph))
        chain = [f"{graph}.src", *names, f"{graph}.snk"]
        edges = [*pairwise(chain), (chain[0], chain[-2])]
        streams += [Stream(i, j, float(random.integers(1, 9))) for i, j in edges]
        if random.random() < 0.3:
            constraints.append(CoLocation((names[0], names[-1])))
        if random.random() < 0.3:
            constraints.append(LatencyLimit(chain[-1], float(random.integers(5, 30))))
    every: tuple[Constraint, ...] = (LinkBandwidth(), *constraints)
    weights = {"placement_cost": 0.5, "link_cost": 0.5}
    application = Application(tuple(operators), tuple(streams))
    return Problem(application, linked_network(nodes, links), Objective(weights), constraints=every)


def all_placements(problem: Problem) -> list[tuple[float, IntArray]]:
    """F and placement of all that break nothing."""
    places = [np.flatnonzero(row) for row in problem.allowed]
    every = np.stack([each.ravel() for each in np.meshgrid(*places, indexing="ij")])
    fits = np.ones(every.shape[1], dtype=np.bool_)
    for rule in (*problem.built_in, *problem.rules):
        fits &= rule.met(every)
    kept = every[:, fits]
    sums = metric_sums(problem, kept).raw
    cost = 0.5 * sums["placement_cost"] + 0.5 * sums["link_cost"]
    return list(zip(cost.tolist(), kept.T, strict=True))
