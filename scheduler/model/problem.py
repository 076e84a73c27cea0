"""The problem: application + network + objective + constraints, checked once and never changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen
from scheduler.base.checks import ModelError, shown
from scheduler.model.application import Application, Operator, Stream
from scheduler.model.feasibility import prove_infeasible
from scheduler.model.kinds import Kinds
from scheduler.model.limits import CoLocationLimit
from scheduler.model.metrics.terms import MetricTerms
from scheduler.model.network import Network, Node
from scheduler.model.node_sets import Reach
from scheduler.model.objective import Objective, Scale
from scheduler.model.ranges import compute_ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.metrics.record import Range

__all__ = [
    "UNPLACED",
    "Application",
    "CoLocationLimit",
    "Network",
    "Node",
    "Objective",
    "Operator",
    "Problem",
    "Stream",
]

UNPLACED = -1
"""In `Problem.current`: the operator runs nowhere yet."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What a strategy is asked to solve. All arrays are read-only.

    A placement is an integer array (n_ops,): the index of the node of each operator (x_(i,u) of the
    paper). Every constraint is a capacity or an allowed node: a limit on co-location is one more resource,
    of which each of its operators demands 1 and every node has as much as the limit says.

    Attributes:
        application: G_dsp.
        network: G_res.
        objective: Weights, and given ranges.
        current: (n_ops,) the running placement as a possible start, `UNPLACED` where none; it need not
            meet the constraints.
        limits: How many operators of a group may share a node.
        resources: Names of all demanded resources, sorted, then one per limit.
        demand: (n_ops, n_resources) C_i.
        capacity: (n_nodes, n_resources) C_u; 0 for a resource that the node does not name.
        reach: The sets of nodes V_res^i, each held once.
        allowed: (n_ops, n_nodes) whether u is in V_res^i; takes no memory if all sets are equal.
        ranges: (min, max) of every metric, given or computed, by metric name.
        scale: F from raw metrics.
    """

    application: Application
    network: Network
    objective: Objective = field(default_factory=Objective)
    current: IntArray | None = None
    limits: tuple[CoLocationLimit, ...] = ()
    resources: tuple[str, ...] = field(init=False, repr=False)
    demand: FloatArray = field(init=False, repr=False)
    capacity: FloatArray = field(init=False, repr=False)
    reach: Reach = field(init=False, repr=False)
    allowed: BoolArray = field(init=False, repr=False)
    ranges: Mapping[str, Range] = field(init=False, repr=False)
    scale: Scale = field(init=False, repr=False)

    def __post_init__(self) -> None:
        def put(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        operators, nodes = self.application.operators, self.network.nodes
        resources = sorted({resource for operator in operators for resource in operator.demand})
        put("limits", tuple(self.limits))
        put("resources", (*resources, *(limit.resource for limit in self.limits)))
        demand = _table([operator.demand for operator in operators], resources)
        capacity = _table([node.capacity for node in nodes], resources)
        members = [self._members(k, limit) for k, limit in enumerate(self.limits)]
        most = [np.full(len(nodes), float(limit.most)) for limit in self.limits]
        put("demand", frozen(np.column_stack([demand, *members])))
        put("capacity", frozen(np.column_stack([capacity, *most])))
        put("reach", Reach.of(operators, self.network.index))
        put("allowed", self.reach.dense())
        if self.current is not None:
            put("current", self._current(self.current))
        put("ranges", {**compute_ranges(self), **self.objective.ranges})
        put("scale", Scale.of(self.objective, self.ranges))

    @cached_property
    def execution_ms(self) -> FloatArray:
        """(n_ops, n_nodes) R_i / S_u (eq. 7), read-only; made when first asked for, 8 bytes per pair."""
        return frozen(self.application.execution_time_ms[:, None] / self.network.speedup[None, :])

    @cached_property
    def terms(self) -> MetricTerms:
        """What the additive metrics are sums of, made once."""
        return MetricTerms.of(self)

    def __getstate__(self) -> dict[str, object]:
        # a child makes the terms, which may have matrices, faster than they are sent to it
        return {name: value for name, value in self.__dict__.items() if name != "terms"}

    @cached_property
    def kinds(self) -> Kinds:
        """The operators grouped by demand and allowed nodes."""
        return Kinds.of(self.demand, self.reach)

    @cached_property
    def infeasibility(self) -> str | None:
        """Why no placement exists, or None if that is not proved; looked for once, when first asked for."""
        return prove_infeasible(self)

    @property
    def n_ops(self) -> int:
        """Number of operators."""
        return len(self.application.operators)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.network.nodes)

    def _members(self, position: int, limit: CoLocationLimit) -> FloatArray:
        """Return (n_ops,) 1 for the operators of a limit, 0 for the others."""
        member = np.zeros(self.n_ops)
        for k, operator in enumerate(limit.operators):
            if operator not in self.application.index:
                where = f"constraints.co_location[{position}].operators[{k}]"
                raise ModelError(where, f"{shown(operator)} is not an operator")
            member[self.application.index[operator]] = 1.0
        return member

    def _current(self, given: IntArray) -> IntArray:
        current = np.array(given)
        if current.shape != (self.n_ops,) or current.dtype.kind != "i":
            raise ModelError("current", f"expected {self.n_ops} node indices, got shape {current.shape}")
        for i, node in enumerate(current):
            if not UNPLACED <= node < self.n_nodes:
                raise ModelError(f"current[{i}]", f"expected a node index or {UNPLACED}, got {node}")
        return frozen(current.astype(np.int64))


def _table(amounts: list[Mapping[str, float]], resources: list[str]) -> FloatArray:
    rows = [[by_name.get(resource, 0.0) for resource in resources] for by_name in amounts]
    return frozen(np.array(rows, dtype=np.float64).reshape(len(amounts), len(resources)))
