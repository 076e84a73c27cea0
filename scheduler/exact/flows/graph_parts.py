"""The graphs of a flow form, each by itself: what is free, what is settled, and the flows between these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.elimination import width

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.exact.flows.flow_form import FlowForm

LARGEST_TABLE = 4_000_000
"""Values of the largest table of a graph whose every place is looked at (32 MB)."""
MOST_VALUES = 20_000_000
"""Values of the largest tables of all graphs together, whose every place is looked at."""


@dataclass(frozen=True, eq=False)
class GraphParts:
    """A graph.

    Attributes:
        free: (n_free,) blocks that have more than one place.
        settled: (n_settled,) blocks that have one.
        at: (n_settled,) their nodes.
        inner: (n_inner, 3) flows between two free blocks: the flow, and positions of its ends in `free`.
        outer: (n_outer, 3) flows between a free and a settled block: the flow, the position of its free end,
            the node of the other one.
        fixed: (n_fixed, 3) flows between settled blocks: the flow and its two nodes.
    """

    free: IntArray
    settled: IntArray
    at: IntArray
    inner: IntArray
    outer: IntArray
    fixed: IntArray

    @cached_property
    def joined(self) -> tuple[tuple[int, int], ...]:
        """Free blocks that have flows between them, by positions; each pair once, the smaller one first."""
        return tuple((i, j) for _, i, j in self.inner.tolist())

    @cached_property
    def tree(self) -> tuple[list[tuple[int, int, int]], list[int]]:
        """Flows of trees that join what flows join, nearest to the roots first, and the roots.

        Each is its position in `inner`, and positions in `free` of its farther and its nearer end.
        """
        beside: list[list[tuple[int, int]]] = [[] for _ in self.free]
        for edge, (_, i, j) in enumerate(self.inner.tolist()):
            beside[i].append((edge, j))
            beside[j].append((edge, i))
        seen: set[int] = set()
        flows: list[tuple[int, int, int]] = []
        roots = []
        for root in range(len(self.free)):
            if root in seen:
                continue
            roots.append(root)
            seen.add(root)
            reached = [root]
            for nearer in reached:
                new = [(edge, farther) for edge, farther in beside[nearer] if farther not in seen]
                seen.update(farther for _, farther in new)
                reached += [farther for _, farther in new]
                flows += [(edge, farther, nearer) for edge, farther in new]
        return flows, roots


def graph_parts(form: FlowForm) -> list[GraphParts]:
    """Return the graphs of a form, each block of which has a place."""
    count = int(form.graph.max()) + 1
    choices = form.allowed.sum(axis=1)
    only = form.allowed.argmax(axis=1)
    blocks = _by_graph(form.graph, count)
    flows = _by_graph(form.graph[form.ends[:, 0]], count)
    position = np.zeros(form.n_blocks, dtype=np.int64)
    parts = []
    for own, between in zip(blocks, flows, strict=True):
        several = choices[own] > 1
        free, settled = own[several], own[~several]
        position[free] = np.arange(len(free))
        ends = form.ends[between]
        moves = choices[ends] > 1
        place = np.where(moves, position[ends], only[ends])
        rows = np.column_stack([between, place])
        one = moves[:, 0] != moves[:, 1]
        outer = rows[one]
        second = moves[one, 1]  # whose first end is the settled one
        outer[second] = outer[second][:, [0, 2, 1]]
        parts.append(
            GraphParts(free, settled, only[settled], rows[moves.all(axis=1)], outer, rows[~moves.any(axis=1)])
        )
    return parts


def _by_graph(graph: IntArray, count: int) -> list[IntArray]:
    order = np.argsort(graph, kind="stable")
    return np.split(order, np.searchsorted(graph[order], np.arange(1, count)))


def small(form: FlowForm, graphs: list[GraphParts]) -> bool:
    """Return whether tables of all places of every graph are small enough."""
    choices = form.allowed.sum(axis=1)
    sizes = [
        float(choices[each.free].max(initial=1)) ** (width(len(each.free), each.joined) + 1)
        for each in graphs
    ]
    return max(sizes) <= LARGEST_TABLE and sum(sizes) <= MOST_VALUES
