"""Small problems of every kind, and their optima by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from scheduler.evaluation.evaluate import metric_sums
from scheduler.model.capacity import TOLERANCE
from scheduler.model.problem import (
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

WEIGHTS = (
    {"response_time": 1.0},
    {"availability": 1.0},
    {"network_usage": 1.0},
    {"response_time": 0.4, "availability": 0.3, "network_usage": 0.3},
    {"response_time": 0.5, "inter_node_traffic": 0.3, "cost": 0.2},
)


class AnyProblem(Protocol):
    """Makes a seeded problem that may be infeasible."""

    def __call__(self, seed: int, n_ops: int, n_nodes: int) -> Problem: ...


class Responses(Protocol):
    """Returns the response times (ms) of placements (n_ops, n_placements)."""

    def __call__(self, problem: Problem, placements: IntArray) -> FloatArray: ...


class Optimum(Protocol):
    """Returns the least F of all placements, or None if none is feasible."""

    def __call__(self, problem: Problem) -> float | None: ...


@pytest.fixture(scope="session")
def any_problem() -> AnyProblem:
    """Chains, trees and other graphs, also two at once; resources, limits, pins; some are infeasible."""
    return _any_problem


@pytest.fixture(scope="session")
def optimum() -> Optimum:
    return _optimum


@pytest.fixture(scope="session")
def responses() -> Responses:
    return _responses


def _any_problem(seed: int, n_ops: int, n_nodes: int) -> Problem:
    random = np.random.default_rng([seed, n_ops, n_nodes])
    names = [f"o{i}" for i in range(n_ops)]
    operators = tuple(
        Operator(
            name,
            float(random.choice([1.0, 3.0])),
            {"slots": 1.0, "memory": float(random.choice([0.5, 1.0, 1.7]) if seed % 3 == 0 else 1.0)},
            allowed=("n0",) if i == 0 and seed % 2 else None,
        )
        for i, name in enumerate(names)
    )
    kind = seed % 4
    ends = [
        (i, j)
        for i, j in product(range(n_ops), repeat=2)
        if i < j
        and (
            (kind == 0 and j == i + 1)
            or (kind == 1 and random.integers(j) == 0)
            or (kind == 2 and random.uniform() < 0.5)
            or (kind == 3 and (i == 0 or j == n_ops - 1))
        )
    ]
    even = bool(random.integers(2))
    streams = [_stream(random, names[i], names[j], even=even) for i, j in ends]
    if seed % 5 == 0 and n_ops > 2:
        streams.append(Stream(names[-1], names[0], 3.0, 20.0, critical=False))
    if seed % 11 in {2, 5, 10}:
        # two graphs, whose operators come in turn or one graph after the other
        second = {name for i, name in enumerate(names) if (i % 2 if seed % 11 == 2 else 2 * i >= n_ops)}
        operators = tuple(
            replace(each, graph="second" if each.name in second else "first") for each in operators
        )
        streams = [each for each in streams if (each.source in second) == (each.target in second)]
    nodes = tuple(
        Node(
            f"n{u}",
            {"slots": float(random.integers(1, 4)), "memory": float(random.uniform(1.5, 3.0))},
            speedup=float(random.choice([1.0, 2.0])),
            availability=float(random.uniform(0.9, 1.0)),
            cost=float(random.uniform(0, 3)),
        )
        for u in range(n_nodes)
    )
    delay, links = random.uniform(0.5, 50, (n_nodes, n_nodes)), random.uniform(0.9, 1, (n_nodes, n_nodes))
    np.fill_diagonal(delay, 0.0)
    np.fill_diagonal(links, 1.0)
    limits = (CoLocationLimit(tuple(names[1:]), 1),) if seed % 7 == 3 and n_ops > 1 else ()
    network = Network(nodes, delay, links if seed % 2 else None)
    objective = Objective(WEIGHTS[int(random.integers(len(WEIGHTS)))])
    return Problem(Application(operators, tuple(streams)), network, objective, constraints=limits)


def _stream(random: np.random.Generator, source: str, target: str, *, even: bool) -> Stream:
    if even:
        return Stream(source, target, 10.0, 50.0)
    return Stream(source, target, float(random.uniform(1, 100)), float(random.uniform(1, 100)))


def _optimum(problem: Problem) -> float | None:
    choices = [np.flatnonzero(row) for row in problem.allowed]
    placements = np.array(np.meshgrid(*choices, indexing="ij")).reshape(problem.n_ops, -1)
    load = np.zeros((problem.n_nodes, len(problem.capacity[0]), placements.shape[1]))
    for i in range(problem.n_ops):
        for r in range(load.shape[1]):
            np.add.at(load[:, r], (placements[i], np.arange(placements.shape[1])), problem.demand[i, r])
    feasible = (load <= problem.capacity[:, :, None] + TOLERANCE).all(axis=(0, 1))
    if not feasible.any():
        return None
    return float(_objectives(problem, placements[:, feasible]).min())


def _objectives(problem: Problem, placements: IntArray) -> FloatArray:
    """F of placements (n_ops, n_placements), from raw metrics, not by the solver's linear form."""
    sums = metric_sums(problem, placements).raw
    return problem.scale.objective({"response_time": _responses(problem, placements), **sums})


def _responses(problem: Problem, placements: IntArray) -> FloatArray:
    source, target = problem.application.stream_source, problem.application.stream_target
    execution = np.take_along_axis(problem.execution_ms, placements, axis=1)

    def hop(streams: IntArray) -> FloatArray:
        return problem.network.delay_ms[placements[source[streams]], placements[target[streams]]]

    finish = problem.application.levels.forward.longest(execution, hop) + execution
    graph = np.array([each.graph for each in problem.application.operators])
    mean: FloatArray = np.mean([finish[graph == name].max(axis=0) for name in np.unique(graph)], axis=0)
    return mean
