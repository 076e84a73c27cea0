"""The problem: application + network + objective + constraints, checked once and never changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen
from scheduler.base.checks import ModelError
from scheduler.model.application import Application, Operator, Stream
from scheduler.model.constraints.built_in import AllowedNodes, NodeCapacities
from scheduler.model.constraints.constraint import Constraint, Rules
from scheduler.model.constraints.separation import CoLocationLimit
from scheduler.model.current import ELSEWHERE, GONE, MARKS, UNPLACED
from scheduler.model.duration import too_slow
from scheduler.model.loading import load_mb
from scheduler.model.metrics.terms import MetricTerms
from scheduler.model.network import Network, Node
from scheduler.model.node_sets import Kinds, NodeSets
from scheduler.model.objective import Objective, Scale
from scheduler.model.ranges import compute_ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.metrics.record import Range

__all__ = [
    "ELSEWHERE",
    "GONE",
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


@dataclass(frozen=True, eq=False)
class Problem:
    """What a strategy is asked to solve. All arrays are read-only.

    A placement is an integer array (n_ops,): the index of the node of each operator (x_(i,u) of the
    paper). Allowed nodes and capacities are constraints that all methods know as arrays; any other one
    (`scheduler.model.constraints`) is a resource beside those that nodes name, or one of the `rules`.

    Attributes:
        application: G_dsp.
        network: G_res.
        objective: Weights, and given ranges.
        current: (n_ops,) the running placement as a possible start, with a mark where an operator runs on no
            node of this problem (`scheduler.model.current`); it need not meet the constraints.
        gone: By the name of an operator that is marked `GONE`, the name of the node where it ran.
        left_price: (n_ops,) price per second of the node on which each operator runs now, for a part of a
            problem that leaves that node out; None: it is that of the nodes of this problem.
        constraints: What holds besides allowed nodes and capacities.
        resources: Names of all demanded resources, sorted, then those that constraints amount to.
        demand: (n_ops, n_resources) C_i.
        capacity: (n_nodes, n_resources) C_u; of a resource that the node does not name, more than enough for
            all operators, so that no method meets infinite amounts.
        node_sets: The sets of nodes V_res^i, each held once.
        allowed: (n_ops, n_nodes) whether u is in V_res^i; takes no memory if all sets are equal.
        ranges: (min, max) of every metric, given or computed, by metric name.
        scale: F from raw metrics.
        rules: The constraints that are neither allowed nodes nor capacities.
    """

    application: Application
    network: Network
    objective: Objective = field(default_factory=Objective)
    current: IntArray | None = None
    constraints: tuple[Constraint, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)
    left_price: FloatArray | None = None
    resources: tuple[str, ...] = field(init=False, repr=False)
    demand: FloatArray = field(init=False, repr=False)
    capacity: FloatArray = field(init=False, repr=False)
    node_sets: NodeSets = field(init=False, repr=False)
    allowed: BoolArray = field(init=False, repr=False)
    ranges: Mapping[str, Range] = field(init=False, repr=False)
    scale: Scale = field(init=False, repr=False)
    rules: Rules = field(init=False, repr=False)

    def __post_init__(self) -> None:
        def put(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        operators, nodes = self.application.operators, self.network.nodes
        resources = sorted({resource for operator in operators for resource in operator.demand})
        put("constraints", tuple(self.constraints))
        places = self._places_of_constraints()
        stated = [each.resource(self.application, place) for place, each in places]
        shared = [each for each in stated if each is not None]
        put("resources", (*resources, *(each.name for each in shared)))
        demand = _table([operator.demand for operator in operators], dict.fromkeys(resources, 0.0))
        # twice what all demand, so that a sum in another order stays below it
        plenty = dict(zip(resources, 2.0 * demand.sum(axis=0), strict=True))
        capacity = _table([node.capacity for node in nodes], plenty)
        put("demand", frozen(np.column_stack([demand, *(each.demand for each in shared)])))
        most = [np.full(len(nodes), each.capacity) for each in shared]
        put("capacity", frozen(np.column_stack([capacity, *most])))
        put("node_sets", NodeSets.of(operators, self.network.index, self.too_slow))
        put("allowed", self.node_sets.dense())
        if self.current is not None:
            put("current", self._current(self.current))
        self._check_pull()
        put("ranges", {**compute_ranges(self), **self.objective.ranges})
        put("scale", Scale.of(self.objective, self.ranges))
        rules = [each.rule(self, place) for place, each in places]
        put("rules", Rules(tuple(rule for rule in rules if rule is not None)))

    @cached_property
    def built_in(self) -> tuple[AllowedNodes, NodeCapacities]:
        """The constraints that every problem has, as rules."""
        return AllowedNodes(self), NodeCapacities(self)

    @property
    def too_slow(self) -> BoolArray | None:
        """(n_ops, n_nodes) where limits on durations let no operator run; None if no limit works."""
        return too_slow(self.application, self.network, self.objective)

    @cached_property
    def execution_ms(self) -> FloatArray:
        """(n_ops, n_nodes) R_i / S_u (eq. 7), read-only; made when first asked for, 8 bytes per pair."""
        return frozen(self.application.execution_time_ms[:, None] / self.network.speedup[None, :])

    @cached_property
    def movable(self) -> BoolArray:
        """(n_ops,) which operators are allowed on several nodes."""
        return frozen(self.node_sets.choices > 1)

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
        return Kinds.of(self.demand, self.node_sets)

    @cached_property
    def infeasibility(self) -> str | None:
        """Why no placement exists, or None if that is not proved; looked for once, when first asked for."""
        conflicts = (rule.conflict() for rule in (*self.built_in, *self.rules))
        return next((each for each in conflicts if each is not None), None)

    @cached_property
    def price_left(self) -> FloatArray:
        """(n_ops,) price per second of the node on which each operator runs now; 0 where it runs nowhere."""
        if self.left_price is not None:
            return self.left_price
        if self.current is None:
            return frozen(np.zeros(self.n_ops))
        return frozen(np.where(self.current >= 0, self.network.cost[np.maximum(self.current, 0)], 0.0))

    @property
    def n_ops(self) -> int:
        """Number of operators."""
        return len(self.application.operators)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.network.nodes)

    def _check_pull(self) -> None:
        """Refuse nodes to which something may have to be loaded at a rate that is not known."""
        loads = load_mb(self.application, self.network)
        unknown = self.network.pull_mb_per_s <= 0
        something = self.application.image_mb.any() or self.application.state_mb.any()
        if not (something and unknown.any()):
            return
        cases = np.argwhere((loads > 0) & unknown & self.allowed)
        if cases.size:
            i, u = cases[0].tolist()
            where, operator = f"network.nodes[{u}].pull_mb_per_s", self.application.operators[i].name
            raise ModelError(
                where, f"missing: operator {operator} may come here and loads {loads[i, u]:g} MB"
            )

    def _places_of_constraints(self) -> list[tuple[str, Constraint]]:
        """Return each constraint with its place: the position among those of its kind."""
        seen: Counter[str] = Counter()
        places = []
        for each in self.constraints:
            places.append((f"constraints.{each.kind}[{seen[each.kind]}]", each))
            seen[each.kind] += 1
        return places

    def _current(self, given: IntArray) -> IntArray:
        current = np.array(given)
        if current.shape != (self.n_ops,) or current.dtype.kind != "i":
            raise ModelError("current", f"expected {self.n_ops} node indices, got shape {current.shape}")
        for i, node in enumerate(current):
            if not (0 <= node < self.n_nodes or node in MARKS):
                expected = f"a node index, {', '.join(map(str, MARKS[:-1]))} or {MARKS[-1]}"
                raise ModelError(f"current[{i}]", f"expected {expected}, got {node}")
        return frozen(current.astype(np.int64))


def _table(amounts: list[Mapping[str, float]], missing: Mapping[str, float]) -> FloatArray:
    """Return (n_amounts, n_resources) amounts of the resources that `missing` has values for."""
    rows = [[by_name.get(resource, value) for resource, value in missing.items()] for by_name in amounts]
    return frozen(np.array(rows, dtype=np.float64).reshape(len(amounts), len(missing)))
