"""Paths in descending order of the most that they can take."""

from __future__ import annotations

import heapq
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest

from scheduler.exact.extremes.paths_by_length import paths_by_length
from scheduler.exact.form.class_form import class_form
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


def graph_of(problem: Problem, operator: int) -> str:
    return problem.application.operators[operator].graph


def longest(problem: Problem, path: tuple[int, ...]) -> float:
    """The most that a path takes on allowed nodes, by trying all of them."""
    places = [np.flatnonzero(problem.allowed[i]).tolist() for i in path]
    return max(
        sum(float(problem.execution_ms[i, u]) for i, u in zip(path, nodes, strict=True))
        + sum(
            float(problem.network.delay_ms[u, v])
            for (i, u), (j, v) in pairwise(zip(path, nodes, strict=True))
            if graph_of(problem, i) == graph_of(problem, j)
        )
        for nodes in product(*places)
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_path_comes_once_the_longest_first(make_problem: MakeProblem, seed: int) -> None:
    """With the length that it has at most without capacities; one through each graph after the other."""
    made = make_problem(seed, 10, 3)
    weights = {"response_time": 0.5, "network_usage": 0.5}  # so that streams off all paths are edges too
    problem = Problem(made.application, made.network, Objective(weights))
    graph = nx.DiGraph(problem.application.critical_edges())
    graph.add_nodes_from(range(problem.n_ops))
    sources = [i for i in graph if graph.in_degree(i) == 0]
    sinks = [i for i in graph if graph.out_degree(i) == 0]
    wanted = [
        tuple(path)
        for source, sink in product(sources, sinks)
        for path in ([[source]] if source == sink else nx.all_simple_paths(graph, source, sink))
    ]
    graphs = dict.fromkeys(each.graph for each in problem.application.operators)
    of_each = [[path for path in wanted if graph_of(problem, path[0]) == graph] for graph in graphs]
    through = [tuple(chain.from_iterable(paths)) for paths in product(*of_each)]
    found = list(paths_by_length(class_form(problem)))

    assert sorted(path for path, _ in found) == sorted(through)
    assert [length for _, length in found] == sorted((length for _, length in found), reverse=True)
    for path, length in found:
        assert length == pytest.approx(longest(problem, path))


def test_no_path_is_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if all are equally long but for rounding: only what continues the first one is looked at."""
    layers, width = 5, 8
    operators = tuple(
        Operator(f"{layer}.{k}", 0.1, {"memory": 1.0 + k}) for layer in range(layers) for k in range(width)
    )
    streams = tuple(
        Stream(f"{layer}.{i}", f"{layer + 1}.{j}")
        for layer in range(layers - 1)
        for i, j in product(range(width), repeat=2)
    )
    random = np.random.default_rng(0)
    delay = random.uniform(0.5, 50.0, (5, 5)) * (1.0 - np.eye(5))
    nodes = tuple(Node(f"n{u}", {"memory": 99.0}, speedup=1.0 + u % 2) for u in range(5))
    form = class_form(Problem(Application(operators, streams), Network(nodes, delay)))
    assert form.n_classes == layers * width
    made = []
    genuine = heapq.heappush

    def push(heap: list[tuple[float]], entry: tuple[float]) -> None:
        made.append(entry)
        genuine(heap, entry)

    monkeypatch.setattr("heapq.heappush", push)
    next(paths_by_length(form))

    assert len(made) == (layers - 1) * width
