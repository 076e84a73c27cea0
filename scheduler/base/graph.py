"""Directed graphs as lists of edges: orders, cycles, and the edges that close them."""

from __future__ import annotations

from collections import deque
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import IntArray

    Edge = tuple[int, int]


def _targets(vertices: int, edges: Sequence[Edge] | IntArray) -> tuple[list[list[int]], list[int]]:
    """Return per vertex the ends of its edges, in the order of the edges, and how many edges end at it."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    source, target = pairs[:, 0], pairs[:, 1]
    order = np.argsort(source, kind="stable")
    ends: list[int] = target[order].tolist()
    bounds = np.searchsorted(source[order], np.arange(vertices + 1)).tolist()
    waiting: list[int] = np.bincount(target, minlength=vertices).tolist()
    return [ends[bounds[v] : bounds[v + 1]] for v in range(vertices)], waiting


def topological_order(vertices: int, edges: Sequence[Edge] | IntArray) -> list[int]:
    """Return the vertices so that every edge leads forward; shorter than `vertices` if there is a cycle.

    Deterministic: among the vertices that are ready, the one that became ready first comes first.

    Args:
        vertices: Number of vertices.
        edges: Pairs (source, target) of vertex indices, also as an array (n_edges, 2).
    """
    targets, waiting = _targets(vertices, edges)
    ready = deque(vertex for vertex in range(vertices) if waiting[vertex] == 0)
    order: list[int] = []
    while ready:
        vertex = ready.popleft()
        order.append(vertex)
        for target in targets[vertex]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return order


def find_cycle(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return the vertices of one cycle in order, or an empty list."""
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(vertices), ()))
    for source, target in edges:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[int] = error.args[1]
        return cycle[:-1]
    return []


def break_cycles(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return the indices, ascending, of edges whose removal leaves no cycle.

    These are the back edges of a depth-first walk that starts at the vertices without incoming edges, in
    the order given: in a stream processing graph, the feedback streams. Their streams are to be marked
    ``critical=False``.

    Args:
        vertices: Number of vertices.
        edges: Pairs (source, target) of vertex indices; self-loops and parallel edges are permitted.
    """
    onward: list[list[tuple[int, int]]] = [[] for _ in range(vertices)]
    for index, (source, target) in enumerate(edges):
        onward[source].append((target, index))
    has_input = {target for _, target in edges}
    on_path: set[int] = set()
    seen: set[int] = set()
    back: list[int] = []
    for root in sorted(range(vertices), key=has_input.__contains__):
        pending = [(root, iter(onward[root]))] if root not in seen else []
        while pending:
            vertex, ahead = pending[-1]
            seen.add(vertex)
            on_path.add(vertex)
            for target, index in ahead:
                if target in on_path:
                    back.append(index)
                elif target not in seen:
                    pending.append((target, iter(onward[target])))
                    break
            else:
                on_path.discard(vertex)
                pending.pop()
    return sorted(back)


def breadth_first(vertices: int, edges: Sequence[Edge] | IntArray) -> list[int]:
    """Return all vertices in breadth-first order from those without incoming edges.

    Vertices without any edge come last: nothing says where they belong.

    Args:
        vertices: Number of vertices.
        edges: Pairs (source, target) of vertex indices, also as an array (n_edges, 2).
    """
    targets, incoming = _targets(vertices, edges)
    order = [v for v in range(vertices) if not incoming[v] and targets[v]]
    seen = [False] * vertices
    for vertex in order:
        seen[vertex] = True
    for vertex in order:  # it grows on the way
        for target in targets[vertex]:
            if not seen[target]:
                seen[target] = True
                order.append(target)
    return order + [v for v in range(vertices) if not seen[v]]
