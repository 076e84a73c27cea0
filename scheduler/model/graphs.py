"""The graphs of an application: topologies that share nodes, with no stream from one to another.

Each graph answers for itself, so that what is a maximum over paths is one per graph: the response time of a
problem is the mean of those of its graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, IntArray, frozen, grouped

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, eq=False)
class Graphs:
    """Which operators, or classes of operators, belong together.

    Attributes:
        names: Of the graphs, by their first operators.
        member: (n_ops,) the graph of each operator.
    """

    names: tuple[str, ...]
    member: IntArray

    @staticmethod
    def of(names: Iterable[str]) -> Graphs:
        """Return the graphs, given the name of each operator's."""
        listed = list(names)
        first, member = grouped(listed)
        return Graphs(tuple(listed[i] for i in first), member)

    @property
    def count(self) -> int:
        """Number of graphs."""
        return len(self.names)

    @cached_property
    def members(self) -> tuple[slice | IntArray, ...]:
        """The operators of each graph, as a slice where they are listed together."""
        listed = [np.flatnonzero(self.member == k) for k in range(self.count)]
        return tuple(
            slice(int(each[0]), int(each[-1]) + 1) if len(each) == each[-1] - each[0] + 1 else each
            for each in listed
        )

    def chosen(self, operators: IntArray) -> Graphs:
        """Return the graphs of some operators, (k,), or of classes by one operator of each."""
        return Graphs(self.names, frozen(self.member[operators]))

    def longest(self, ways: FloatArray) -> FloatArray:
        """Return the largest value per graph, (n_graphs, ...), of values (n_ops, ...)."""
        if self.count == 1:
            only: FloatArray = ways.max(axis=0, keepdims=True)
            return only
        # plain reductions are many times faster than ufunc.at and ufunc.reduceat along the first axis
        return np.stack([ways[members].max(axis=0) for members in self.members])

    def response(self, finish: FloatArray) -> FloatArray:
        """Return R, (...), of the longest ways to each operator, its own time included, (n_ops, ...)."""
        return self.mean(self.longest(finish))

    def mean(self, longest: FloatArray) -> FloatArray:
        """Return R, (...), of the longest way of each graph, (n_graphs, ...)."""
        if self.count == 1:
            only: FloatArray = longest[0]
            return only
        mean: FloatArray = longest.mean(axis=0)
        return mean

    def beside(self, longest: FloatArray) -> FloatArray:
        """Return (n_ops,) what the other graphs add to R, of the longest way of each graph, (n_graphs,)."""
        if self.count == 1:
            return np.zeros(len(self.member))
        # not as a difference: a way may be infinite
        others = np.array([np.delete(longest, k).sum() for k in range(self.count)])
        beside: FloatArray = others[self.member] / self.count
        return beside
