from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.evaluation.critical_path import Avoidance, potentials

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem


def longest_without(problem: Problem, placement: IntArray, avoided: int) -> float:
    """The longest stretch of path in the operator's graph, from which it is deleted."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    execution = problem.execution_ms[np.arange(problem.n_ops), placement]
    own = [each.graph for each in problem.application.operators]
    for i in range(problem.n_ops):
        if own[i] == own[avoided]:
            graph.add_edge(-1 - i, i, weight=float(execution[i]))
    for source, target in problem.application.critical_edges():
        if own[source] != own[avoided]:
            continue
        delay = float(problem.network.delay_ms[placement[source], placement[target]])
        graph.add_edge(source, -1 - target, weight=delay)
    graph.remove_nodes_from([avoided, -1 - avoided])
    return float(nx.dag_longest_path_length(graph)) if graph else 0.0


@given(st.integers(0, 500), st.integers(1, 14))
def test_it_is_the_longest_path_of_the_graph_without_the_operator(
    make_problem: MakeProblem, seed: int, n_ops: int
) -> None:
    """For every operator at once, what deleting it and searching again gives."""
    problem = make_problem(seed, n_ops, 6)
    placement = np.random.default_rng(seed).integers(6, size=n_ops)
    found = Avoidance(problem).longest(placement, potentials(problem, placement))
    through = potentials(problem, placement)
    longest = (through.arrival_ms + through.execution_ms).max()
    for i in range(n_ops):
        expected = longest_without(problem, placement, i)
        # a stretch that ends beside the operator is no whole path, but never longer than one through it
        assert found[i] <= longest + 1e-9
        own = through.arrival_ms[i] + through.execution_ms[i] + through.departure_ms[i]
        assert max(found[i], own) == pytest.approx(max(expected, own))
