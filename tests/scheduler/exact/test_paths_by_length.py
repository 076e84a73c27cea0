"""Paths in descending order of the most that they can take."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest

from scheduler.exact.form import class_form
from scheduler.exact.paths_by_length import paths_by_length
from scheduler.problem import Objective, Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


def longest(problem: Problem, path: tuple[int, ...]) -> float:
    """The most that a path takes on allowed nodes, by trying all of them."""
    places = [np.flatnonzero(problem.allowed[i]).tolist() for i in path]
    return max(
        sum(float(problem.execution_ms[i, u]) for i, u in zip(path, nodes, strict=True))
        + sum(float(problem.network.delay_ms[u, v]) for u, v in pairwise(nodes))
        for nodes in product(*places)
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_path_comes_once_the_longest_first(make_problem: MakeProblem, seed: int) -> None:
    """With the length that it has at most if capacities are left out."""
    made = make_problem(seed, 10, 3)
    problem = Problem(made.application, made.network, Objective({"response_time": 1.0}))
    graph = nx.DiGraph(problem.application.critical_edges())
    graph.add_nodes_from(range(problem.n_ops))
    sources = [i for i in graph if graph.in_degree(i) == 0]
    sinks = [i for i in graph if graph.out_degree(i) == 0]
    wanted = [
        tuple(path)
        for source, sink in product(sources, sinks)
        for path in ([[source]] if source == sink else nx.all_simple_paths(graph, source, sink))
    ]
    found = list(paths_by_length(class_form(problem)))

    assert sorted(path for path, _ in found) == sorted(wanted)
    assert [length for _, length in found] == sorted((length for _, length in found), reverse=True)
    for path, length in found:
        assert length == pytest.approx(longest(problem, path))
