"""Directed graphs as lists of edges: orders, cycles, and the edges that close them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Edge = tuple[int, int]


def _successors(vertices: int, edges: Sequence[Edge]) -> list[list[tuple[int, int]]]:
    """Return per vertex the pairs (target, edge index), in the order of the edges."""
    successors: list[list[tuple[int, int]]] = [[] for _ in range(vertices)]
    for index, (source, target) in enumerate(edges):
        successors[source].append((target, index))
    return successors


def topological_order(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return the vertices so that every edge leads forward; shorter than `vertices` if there is a cycle.

    Deterministic: among the vertices that are ready, the one that became ready first comes first.
    """
    successors = _successors(vertices, edges)
    waiting = [0] * vertices
    for _, target in edges:
        waiting[target] += 1
    ready = deque(vertex for vertex in range(vertices) if waiting[vertex] == 0)
    order: list[int] = []
    while ready:
        vertex = ready.popleft()
        order.append(vertex)
        for target, _ in successors[vertex]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return order


def _depth_first(vertices: int, edges: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """Walk depth first from vertices without incoming edges, then from the rest.

    Returns:
        The indices of the back edges (ascending), and the vertices of the first cycle found (empty if none).
    """
    successors = _successors(vertices, edges)
    has_input = {target for _, target in edges}
    roots = [v for v in range(vertices) if v not in has_input] + [
        v for v in range(vertices) if v in has_input
    ]
    done: set[int] = set()
    back: list[int] = []
    cycle: list[int] = []
    for root in roots:
        if root in done:
            continue
        path = [root]
        on_path = {root}
        pending = [iter(successors[root])]
        while path:
            following = next(pending[-1], None)
            if following is None:
                pending.pop()
                vertex = path.pop()
                on_path.discard(vertex)
                done.add(vertex)
                continue
            target, index = following
            if target in on_path:
                back.append(index)
                cycle = cycle or path[path.index(target) :]
            elif target not in done:
                path.append(target)
                on_path.add(target)
                pending.append(iter(successors[target]))
    return sorted(back), cycle


def find_cycle(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return the vertices of one cycle in order, or an empty list."""
    return _depth_first(vertices, edges)[1]


def break_cycles(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return the indices of edges whose removal leaves no cycle.

    These are the back edges of a depth-first walk that starts at the vertices without incoming edges, in
    the order given: in a stream processing graph, the feedback streams. Their streams are to be marked
    ``critical=False``.

    Args:
        vertices: Number of vertices.
        edges: Pairs (source, target) of vertex indices; self-loops and parallel edges are permitted.
    """
    return _depth_first(vertices, edges)[0]


def breadth_first(vertices: int, edges: Sequence[Edge]) -> list[int]:
    """Return all vertices in breadth-first order from those without incoming edges.

    Vertices without any edge come last: nothing says where they belong.
    """
    successors = _successors(vertices, edges)
    has_input = {target for _, target in edges}
    queue = deque(v for v in range(vertices) if v not in has_input and successors[v])
    seen = set(queue)
    order: list[int] = []
    while queue:
        vertex = queue.popleft()
        order.append(vertex)
        for target, _ in successors[vertex]:
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return order + [v for v in range(vertices) if v not in seen]
