"""The two kinds that every problem has: allowed nodes, and capacities of nodes over named resources.

Construction, moves and the solver know both as arrays (`Problem.allowed`, `Problem.demand`,
`Problem.capacity`); checks, batches and proofs of infeasibility ask these rules. A pin is an allowed set of
one node, and a constraint that amounts to a resource (`Constraint.resource`) is a capacity.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.capacity import TOLERANCE, over_full
from scheduler.model.constraints.constraint import Rule
from scheduler.model.duration import durations_ms
from scheduler.model.feasibility import prove_infeasible

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem


class AllowedNodes(Rule):
    """Every operator is on one of its nodes V_res^i; asked about complete placements only."""

    kind = "allowed"

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def free_choice(self) -> bool:
        """Whether every operator that is not pinned may run anywhere."""
        return bool(self._problem.allowed[self._problem.movable].all())

    @cached_property
    def _rows(self) -> IntArray:
        return (np.arange(self._problem.n_ops) * self._problem.n_nodes)[:, None]

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether all operators are allowed where they are."""
        allowed: BoolArray = self._problem.allowed.ravel()[placements + self._rows]
        met: BoolArray = np.all(allowed, axis=0)
        return met

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return a sentence per operator that is not allowed where it is."""
        return tuple(
            self._sentence(i, u) for i, u in enumerate(placement.tolist()) if not self._problem.allowed[i, u]
        )

    def conflict(self) -> str | None:
        """Return why an operator is allowed nowhere, if that is because all nodes are too slow."""
        problem = self._problem
        slow = problem.too_slow
        if slow is None:
            return None
        for i in np.flatnonzero(slow.all(axis=1)).tolist():
            operator = problem.application.operators[i]
            most, fastest = operator.duration_max_ms, problem.network.speedup.max()
            if problem.objective.duration_model == "queue":
                return f"operator {operator.name} {self._takes(i, int(problem.network.speedup.argmax()))}"
            needed = operator.actual_ms * operator.actual_speedup / most
            return (
                f"operator {operator.name} keeps to {most:g} ms per tuple from a speed-up of {needed:g} on, "
                f"and the fastest node has {fastest:g}"
            )
        return None

    def _sentence(self, i: int, u: int) -> str:
        operator, node = self._problem.application.operators[i], self._problem.network.nodes[u]
        slow = self._problem.too_slow
        if slow is not None and slow[i, u]:
            return f"operator {operator.name} {self._takes(i, u)}"
        return f"operator {operator.name} is not allowed on node {node.name}"

    def _takes(self, i: int, u: int) -> str:
        problem = self._problem
        speedup, model = problem.network.speedup, problem.objective.duration_model
        takes = float(durations_ms(problem.application, speedup, model)[i, u])
        node = problem.network.nodes[u].name
        if math.isinf(takes):
            return f"cannot keep up with its tuples on node {node}"
        most = problem.application.operators[i].duration_max_ms
        return f"would take {takes:g} ms per tuple on node {node}, and its limit is {most:g}"


class NodeCapacities(Rule):
    """On every node the demands fit the capacity, per resource; asked about complete placements only."""

    kind = "capacity"

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def _resources(self) -> list[tuple[IntArray, FloatArray, FloatArray]]:
        """Per resource the operators that demand some, their demands, and capacities with tolerance."""
        found = []
        for demand, capacity in zip(self._problem.demand.T, self._problem.capacity.T, strict=True):
            members = np.flatnonzero(demand)
            if members.size:
                found.append((members, demand[members], capacity + TOLERANCE))
        return found

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether the demands fit.

        Complexity: O((n_ops + n_nodes) x n_placements) per resource.
        """
        count = placements.shape[1]
        column = np.arange(count)
        met = np.ones(count, dtype=np.bool_)
        for members, demand, capacity in self._resources:
            where = placements if len(members) == len(placements) else placements[members]
            place = where * count + column
            weights = np.repeat(demand, count)
            load = np.bincount(place.ravel(), weights, self._problem.n_nodes * count)
            met &= (load.take(place) <= capacity.take(where)).all(axis=0)
        return met

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return a sentence per node and resource of which more is demanded than there is."""
        nodes = self._problem.network.nodes
        return tuple(
            f"node {nodes[u].name} has {has:g} {resource}, {asked:g} are demanded"
            for u, resource, asked, has in over_full(self._problem, placement)
        )

    def conflict(self) -> str | None:
        """Return why no placement fits, or None if `prove_infeasible` cannot prove it."""
        return prove_infeasible(self._problem)
