"""Kinds of operators: those with the same demand and the same allowed nodes are alike for all constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.arrays import FloatArray, IntArray, frozen, ints

if TYPE_CHECKING:
    from scheduler.model.node_sets import NodeSets


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of a problem's operators.

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
        known: dict[tuple[float, ...], int] = {}
        first: list[int] = []
        member: list[int] = []
        for i, (amounts, nodes) in enumerate(zip(demand.tolist(), node_sets.member.tolist(), strict=True)):
            kind = known.setdefault((*amounts, nodes), len(first))
            if kind == len(first):
                first.append(i)
            member.append(kind)
        return Kinds(frozen(demand[first]), frozen(node_sets.member[first]), ints(member))
