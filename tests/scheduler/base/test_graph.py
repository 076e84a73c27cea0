from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.graph import breadth_first, break_cycles, find_cycle, topological_order

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


@given(EDGES)
def test_without_the_broken_edges_no_cycle_is_left(edges: list[tuple[int, int]]) -> None:
    """Removing the edges that break_cycles names leaves an acyclic graph, and an acyclic graph keeps all."""
    broken = set(break_cycles(7, edges))
    graph = nx.DiGraph([edge for k, edge in enumerate(edges) if k not in broken])

    assert nx.is_directed_acyclic_graph(graph)
    assert bool(broken) != nx.is_directed_acyclic_graph(nx.DiGraph(edges))


@given(EDGES)
def test_every_edge_leads_forward_in_topological_order(edges: list[tuple[int, int]]) -> None:
    """The order is complete exactly for acyclic graphs, and then no edge leads back."""
    order = topological_order(7, edges)

    assert (len(order) == 7) == nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    if len(order) == 7:
        assert all(order.index(a) < order.index(b) for a, b in edges)


@given(EDGES)
def test_a_found_cycle_is_one(edges: list[tuple[int, int]]) -> None:
    """Consecutive vertices of the cycle, and the last and the first, are joined by edges."""
    cycle = find_cycle(7, edges)

    assert all(edge in edges for edge in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert bool(cycle) != nx.is_directed_acyclic_graph(nx.DiGraph(edges))


def test_the_feedback_stream_is_the_one_to_break() -> None:
    """In source -> a -> b -> sink with b -> a, the way back is broken, not the way forward."""
    assert break_cycles(4, [(0, 1), (2, 1), (1, 2), (2, 3)]) == [1]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([(0, 1), (0, 2), (1, 3), (2, 3)], [0, 1, 2, 3, 4]),
        ([(4, 3), (3, 2), (2, 1)], [4, 3, 2, 1, 0]),
        ([(1, 4), (0, 2), (0, 4)], [0, 1, 2, 4, 3]),
        ([], [0, 1, 2, 3, 4]),
    ],
)
def test_breadth_first_begins_at_sources_and_ends_with_the_unconnected(
    edges: list[tuple[int, int]], expected: list[int]
) -> None:
    """All sources come first, then their successors level by level; vertices without edges come last."""
    assert breadth_first(5, edges) == expected
