"""Which components are mixed with each other."""

from __future__ import annotations

import numpy as np

from scheduler.packing.grouping import group_components


def _weights(count: int, edges: list[tuple[int, int]]) -> np.ndarray:
    table = np.zeros((count, count))
    for a, b in edges:
        table[a, b] = table[b, a] = 1.0
    return table


def test_small_components_with_edges_become_one_group() -> None:
    groups = group_components(_weights(3, [(0, 1), (1, 2)]), np.full((3, 2), 0.1))
    assert [sorted(group) for group in groups] == [[0, 1, 2]]


def test_large_components_are_mixed_in_pairs() -> None:
    """A chain of four that fill ten nodes each: mixing two of them keeps 1/20 together, all four 1/40."""
    groups = group_components(_weights(4, [(0, 1), (1, 2), (2, 3)]), np.full((4, 1), 10.0))
    assert sorted(sorted(group) for group in groups) == [[0, 1], [2, 3]]


def test_components_without_edges_stay_alone_and_empty_ones_are_left_out() -> None:
    size = np.array([[0.5], [0.0], [2.0]])
    assert group_components(_weights(3, [(0, 1)]), size) == [[2], [0]]


def test_groups_with_edges_between_them_follow_each_other() -> None:
    edges = [(0, 1), (2, 3), (4, 5), (1, 4)]
    groups = group_components(_weights(6, edges), np.full((6, 1), 10.0))
    order = [sorted(group) for group in groups]
    assert sorted(order) == [[0, 1], [2, 3], [4, 5]]
    assert abs(order.index([0, 1]) - order.index([4, 5])) == 1


def test_no_component_gives_no_group() -> None:
    assert group_components(np.zeros((0, 0)), np.zeros((0, 2))) == []
