"""Which nodes each operator may use, held once for all operators that may use the same ones.

Operators that demand the same besides are of one kind: alike for all built-in constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen, grouped
from scheduler.base.checks import ModelError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.model.application import Operator


@dataclass(frozen=True, eq=False)
class NodeSets:
    """The sets of nodes V_res^i.

    Attributes:
        nodes: (n_sets, n_nodes) whether a node belongs to a set; the sets are distinct. Read-only.
        member: (n_ops,) the set of each operator. Read-only.
    """

    nodes: BoolArray
    member: IntArray

    @staticmethod
    def of(
        operators: Sequence[Operator], index: Mapping[str, int], barred: BoolArray | None = None
    ) -> NodeSets:
        """Return the sets of these operators.

        Complexity: O(sum of listed names + n_sets x n_nodes).

        Args:
            operators: In the order of the application.
            index: Position of each node by name.
            barred: (n_ops, n_nodes) nodes that operators may not use besides, None if there are none.

        Raises:
            ModelError: An operator names a node that does not exist.
        """
        listed, of_list = grouped(operator.allowed for operator in operators)
        rows = np.array([_row(i, operators[i].allowed, index) for i in listed])
        if barred is not None:
            rows, of_list = rows[of_list] & ~barred, np.arange(len(operators))
        first, of_row = grouped(row.tobytes() for row in np.packbits(rows, axis=1))
        return NodeSets(frozen(rows[first]), frozen(of_row[of_list]))

    @cached_property
    def size(self) -> IntArray:
        """(n_sets,) number of nodes of each set."""
        counted: IntArray = self.nodes.sum(axis=1)
        return frozen(counted)

    @cached_property
    def choices(self) -> IntArray:
        """(n_ops,) number of nodes of each operator."""
        return frozen(self.size[self.member])

    def dense(self) -> BoolArray:
        """Return (n_ops, n_nodes) whether an operator may use a node, read-only.

        With one set it takes no memory of its own; otherwise it takes a byte per operator and node.
        """
        if len(self.nodes) == 1:
            return np.broadcast_to(self.nodes[0], (len(self.member), self.nodes.shape[1]))
        return frozen(self.nodes[self.member])

    def extremes(self, per_node: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest value of each operator's nodes, (n_ops,) each.

        Args:
            per_node: (n_nodes,) values; an operator without nodes sees all of them.
        """
        least, most = np.empty(len(self.nodes)), np.empty(len(self.nodes))
        for k, nodes in enumerate(self.nodes):
            values = per_node[nodes] if self.size[k] else per_node
            least[k], most[k] = values.min(), values.max()
        return least[self.member], most[self.member]

    def listed(self, k: int) -> IntArray:
        """Return the nodes of a set as indices, ascending; all of them if the set is empty."""
        return np.flatnonzero(self.nodes[k]) if self.size[k] else np.arange(self.nodes.shape[1])


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of a problem's operators: those with the same demand and the same allowed nodes.

    Attributes:
        demand: (n_kinds, n_resources) what an operator of each kind demands.
        node_set: (n_kinds,) index of its allowed nodes in `Problem.node_sets`.
        member: (n_ops,) the kind of each operator.
    """

    demand: FloatArray
    node_set: IntArray
    member: IntArray

    @staticmethod
    def of(demand: FloatArray, node_sets: NodeSets) -> Kinds:
        """Return the kinds, in the order of their first operators.

        Args:
            demand: (n_ops, n_resources).
            node_sets: Where each operator may run.
        """
        first, member = grouped(map(tuple, np.column_stack([demand, node_sets.member]).tolist()))
        return Kinds(frozen(demand[first]), frozen(node_sets.member[first]), member)


def _row(operator: int, allowed: tuple[str, ...] | None, index: Mapping[str, int]) -> BoolArray:
    if allowed is None:
        return np.ones(len(index), dtype=np.bool_)
    row = np.zeros(len(index), dtype=np.bool_)
    for k, node in enumerate(allowed):
        if node not in index:
            where = f"application.operators[{operator}].allowed[{k}]"
            raise ModelError(where, f"{shown(node)} is not a node of the network")
        row[index[node]] = True
    return row
