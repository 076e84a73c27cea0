"""A lower bound of the mean edge distance of any complete assignment that keeps the limits.

The distance of an edge is 3 minus the shares of its pairs of executors that have a worker, a host, a rack in
common. For each topology and level, a linear programme bounds the sum of these shares over all edges. It has
a variable Z[a, b] for each two components: the share of their pairs (an executor of a, one of b; Z[a, a]
holds those of an executor with itself) in a common group. "In a common group" is an equivalence of executors,
and no group holds more than the largest there is, so the averages over executors fulfil

    sum over b of N[b] demand[b] Z[a, b] <= capacity          the group of an executor of a, for each resource
    Z[a, b] + Z[b, c] - Z[a, c] <= 1                          it is transitive (c may be a)
    sum over a, b of v[a] v[b] Z[a, b] >= 0                   Z is a sum of squares, for every vector v
    Z[a, b] <= capacity / (N[a] demand[a] + N[b] demand[b])   from the first and the third, for two components
    1 / N[a] <= Z[a, a]

N are numbers of executors. Inequalities of the second and third kind are added when a solution breaks them;
leaving some out keeps the bound valid. Each resource's capacity is the largest of any host or rack; the heap
limit and the slots bound the heap of a worker, a host and a rack. Left out are that topologies compete for
the largest, shared memory, and rules but those of one executor or component per worker. The method is that
of clique partitioning (Groetschel and Wakabayashi, A cutting plane algorithm for a clustering problem, 1989)
on averages over executors that are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from ortools.linear_solver import pywraplp

from benchmarks.large_clusters.distance import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.large_clusters.cluster import Cluster, Topology
    from benchmarks.large_clusters.worker_rules import WorkerRules

_CUT_ROUNDS = 40
_CUTS_PER_COMPONENT = 4
_BROKEN = 1e-4
"""An inequality that a solution breaks by less is not added."""
_FLAT = 1e-3
_FLAT_ROUNDS = 5
"""Rounds of cuts end when so many of them lowered the sum of shares by less than `_FLAT`."""
_SOLVER = 1e-6
"""Tolerance of the solver, per edge."""
_UNIT = 1e-3
"""Demands are multiples of this, else capacities are not rounded to sums of them."""


@dataclass(frozen=True)
class _Part:
    """Components that edges connect: sizes (n,), demands (n, n_resources), edges as index pairs."""

    sizes: NDArray[np.float64]
    demands: NDArray[np.float64]
    edges: Sequence[tuple[int, int]]


def least_distance(cluster: Cluster) -> float:
    """Return the bound of the mean over all edges of the cluster, to four digits; 0 if there is no edge."""
    edges = sum(len(each.edges) for each in cluster.topologies.values())
    total = sum(topology_bound(cluster, each) for each in cluster.topologies.values())
    return math.floor(1e4 * max(0.0, total / edges - _SOLVER)) / 1e4 if edges else 0.0


def topology_bound(cluster: Cluster, topology: Topology) -> float:
    """Return a lower bound of the sum of the distances of a topology's edges."""
    bound = 0.0
    resources = sorted({name for each in topology.components for name in each.generic})
    capacities = _capacities(cluster, topology.max_heap, resources)
    for part in _parts(topology, resources):
        worker, host, rack = capacities
        shares = 0.0 if _alone(topology.rules, part) else _most_shared(part, worker)
        shares += _most_shared(part, host) + _most_shared(part, rack)
        bound += FARTHEST * len(part.edges) - shares
    return max(0.0, bound)


def _alone(rules: WorkerRules, part: _Part) -> bool:
    """Whether the topology's rules keep the ends of every edge in different workers."""
    return (rules.one_executor or rules.one_component) and all(a != b for a, b in part.edges)


def _capacities(
    cluster: Cluster, max_heap: float, resources: Sequence[str]
) -> tuple[NDArray[np.float64], ...]:
    """Return what the largest worker, host and rack hold: cpu, memory, generic resources, heap."""
    racks: dict[str, NDArray[np.float64]] = {}
    host = np.zeros(3 + len(resources))
    for each in cluster.hosts.values():
        generic = [each.generic.get(name, 0.0) for name in resources]
        room = np.array([each.cpu, each.memory, *generic, len(each.ports) * max_heap])
        racks[each.rack] = racks.get(each.rack, 0.0) + room
        host = np.maximum(host, room)
    worker = np.append(host[:-1], min(host[-1], max_heap))
    return worker, host, np.max(list(racks.values()), axis=0)


def _parts(topology: Topology, resources: Sequence[str]) -> list[_Part]:
    """Split a topology into what edges connect; other components bound nothing."""
    parts = []
    for members in nx.connected_components(nx.Graph(topology.edges)):
        order = {component: position for position, component in enumerate(sorted(members))}
        components = [topology.components[each] for each in order]
        parts.append(
            _Part(
                np.array([float(len(each.tasks)) for each in components]),
                np.array(
                    [
                        [
                            each.cpu,
                            each.on_heap + each.off_heap,
                            *(each.generic.get(name, 0.0) for name in resources),
                            each.on_heap,
                        ]
                        for each in components
                    ]
                ),
                [(order[a], order[b]) for a, b in topology.edges if a in order],
            )
        )
    return parts


def _most_shared(part: _Part, capacity: NDArray[np.float64]) -> float:
    """Return an upper bound of the sum over edges of the share of pairs in a common group."""
    if np.all(part.sizes @ part.demands <= capacity):
        return float(len(part.edges))
    return _Shares(part, _rounded(part.demands, capacity)).most()


def _rounded(demands: NDArray[np.float64], capacity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower each capacity to a multiple of the demands' greatest common divisor: no group holds more."""
    rounded = capacity.copy()
    for resource, column in enumerate((demands / _UNIT).T):
        whole = np.rint(column)
        step = math.gcd(*(int(each) for each in whole)) * _UNIT
        if step > 0 and np.allclose(column, whole, rtol=0, atol=1e-6):
            # a capacity that is a multiple but for rounding stays
            rounded[resource] = step * math.floor(capacity[resource] / step + 1e-6)
    return rounded


class _Shares:
    """The linear programme of one part at one level."""

    def __init__(self, part: _Part, capacity: NDArray[np.float64]) -> None:
        self.n = len(part.sizes)
        self.trivial = float(len(part.edges))
        self.solver = pywraplp.Solver.CreateSolver("CLP")
        totals = part.sizes[:, None] * part.demands
        self.z = {}
        for a in range(self.n):
            for b in range(a, self.n):
                least = 1.0 / part.sizes[a] if a == b else 0.0
                self.z[a, b] = self.solver.NumVar(least, self._most(part, totals, capacity, a, b), "")
        for a in range(self.n):
            for resource in np.flatnonzero(totals.any(axis=0)):
                row = self.solver.Constraint(-self.solver.infinity(), float(capacity[resource]))
                for b in range(self.n):
                    row.SetCoefficient(self._at(a, b), float(totals[b, resource]))
        goal = self.solver.Objective()
        goal.SetMaximization()
        for a, b in part.edges:
            goal.SetCoefficient(self._at(a, b), goal.GetCoefficient(self._at(a, b)) + 1.0)

    @staticmethod
    def _most(
        part: _Part, totals: NDArray[np.float64], capacity: NDArray[np.float64], a: int, b: int
    ) -> float:
        """Return the largest share of one pair of components by itself."""
        if a == b:
            return 1.0
        if np.any(part.demands[a] + part.demands[b] > capacity):
            return 0.0
        both = totals[a] + totals[b]
        return float(np.min(capacity[both > 0] / both[both > 0], initial=1.0))

    def _at(self, a: int, b: int) -> pywraplp.Variable:
        return self.z[min(a, b), max(a, b)]

    def most(self) -> float:
        """Solve, add what is broken, solve again.

        Returns:
            The last optimum: an upper bound; 0 if no assignment keeps the limits.
        """
        optima: list[float] = []
        for _ in range(_CUT_ROUNDS):
            status = self.solver.Solve()
            if status == pywraplp.Solver.INFEASIBLE:
                return 0.0
            if status != pywraplp.Solver.OPTIMAL:
                return min(optima, default=self.trivial)
            optima.append(self.solver.Objective().Value())
            if len(optima) > _FLAT_ROUNDS and optima[-1 - _FLAT_ROUNDS] - optima[-1] < _FLAT:
                break
            values = np.empty((self.n, self.n))
            for (a, b), variable in self.z.items():
                values[a, b] = values[b, a] = variable.solution_value()
            if not self._add_triangles(values) + self._add_squares(values):
                break
        return optima[-1]

    def _add_triangles(self, values: NDArray[np.float64]) -> int:
        """Add the transitivity that is broken most; returns how much was added."""
        broken = values[:, :, None] + values[None, :, :] - values[:, None, :] - 1.0  # a, b, c
        broken[np.tril_indices(self.n, -1)[0], :, np.tril_indices(self.n, -1)[1]] = 0.0  # c, b, a is the same
        broken[range(self.n), range(self.n), :] = 0.0
        broken[:, range(self.n), range(self.n)] = 0.0
        most = min(broken.size, _CUTS_PER_COMPONENT * self.n)
        worst = np.argpartition(broken, -most, axis=None)[-most:]
        added = 0
        for a, b, c in np.array(np.unravel_index(worst, broken.shape)).T.tolist():
            if broken[a, b, c] <= _BROKEN:
                continue
            added += 1
            row = self.solver.Constraint(-self.solver.infinity(), 1.0)
            for pair, sign in (((a, b), 1.0), ((b, c), 1.0), ((a, c), -1.0)):
                row.SetCoefficient(self._at(*pair), row.GetCoefficient(self._at(*pair)) + sign)
        return added

    def _add_squares(self, values: NDArray[np.float64]) -> int:
        """Add the squares of eigenvectors whose eigenvalues are negative; returns how many were added."""
        eigenvalues, vectors = np.linalg.eigh(values)
        negative = [k for k in range(min(self.n, _CUTS_PER_COMPONENT)) if eigenvalues[k] < -_BROKEN]
        for k in negative:
            row = self.solver.Constraint(0.0, self.solver.infinity())
            for a, b in self.z:
                weight = vectors[a, k] * vectors[b, k] * (1.0 if a == b else 2.0)
                row.SetCoefficient(self.z[a, b], float(weight))
        return len(negative)
