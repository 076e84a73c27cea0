"""The links that nodes are joined by, and the one route between every two nodes (paper 002, section III-A).

Routes follow the least cost, as the paper's shortest paths do, where the cost of a link stands for its
latency; of routes of equal cost the one with fewer links counts, then the one whose nodes come first in the
order of the network. Both directions of a pair take the same route, the one found from the earlier node.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen
from scheduler.base.checks import ModelError, name, number, shown
from scheduler.base.quantities import check_quantities, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.model.network import Node

NO_LINK = -1
"""In routes: no further link."""
EQUAL = 1e-9
"""Costs of routes that differ by less, relative to the larger, are equal."""


@dataclass(frozen=True)
class UnderlayLink:
    """A link between two nodes, used in both directions.

    Attributes:
        between: Names of its two ends.
        cost: q_uv of paper 002, what a flow over it costs (>= 0); None is 0, or the delay if no link has a
            cost.
        delay_ms: One way (>= 0).
        bandwidth_bytes_per_s: B_uv, what flows in both directions together may send (>= 0); None: no limit.
    """

    between: tuple[str, str]
    cost: float | None = None
    delay_ms: float = quantity(0.0)
    bandwidth_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.between, list | tuple) or len(self.between) != 2:
            raise ModelError("between", f"expected the names of two nodes, got {shown(self.between)}")
        first, second = (name(f"between[{k}]", each) for k, each in enumerate(self.between))
        if first == second:
            raise ModelError("between[1]", f"{shown(second)} is the first node too")
        object.__setattr__(self, "between", (first, second))
        check_quantities(self)
        for each in ("cost", "bandwidth_bytes_per_s"):
            given = getattr(self, each)
            if given is not None:
                object.__setattr__(self, each, number(each, given))

    @property
    def title(self) -> str:
        """Its ends, as messages have it."""
        return "-".join(self.between)


@dataclass(frozen=True, eq=False)
class Underlay:
    """Links and routes of a network.

    Attributes:
        links: At least one, unless there is a single node.
        route: (n_layers, n_nodes, n_nodes) links of the route between two nodes, `NO_LINK` behind its last
            one; alike in both directions. Read-only.
        ends: (n_links, 2) nodes that each link joins; -1 for those that are not in this part of a network.
            Read-only.
        relays: (n_nodes,) which nodes forward what others send. Read-only.
        near: (n_nodes, n_nodes) which nodes are neighbours, where links join no nodes of the network, such as
            links between sites; None: links say so. Read-only.
        cost: (n_links,) of each link. Read-only.
        bandwidth: (n_links,) bytes/s, infinite where there is no limit. Read-only.
    """

    links: tuple[UnderlayLink, ...]
    route: IntArray
    ends: IntArray
    relays: BoolArray
    near: BoolArray | None = None
    cost: FloatArray = field(init=False, repr=False)
    bandwidth: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", frozen(np.array(_costs(self.links), dtype=float)))
        most = [each.bandwidth_bytes_per_s for each in self.links]
        limits = np.array([np.inf if each is None else each for each in most], dtype=float)
        object.__setattr__(self, "bandwidth", frozen(limits))

    @staticmethod
    def of(nodes: Sequence[Node], links: Sequence[UnderlayLink]) -> Underlay:
        """Find all routes.

        Complexity: O(n_relays^3 + n_links x n_nodes) and O(n_nodes^2 x links of a route), by numpy.

        Raises:
            ModelError: A link names an unknown node or joins two that are joined already, or two nodes have
                no route; the place is ``links`` or inside it.
        """
        index = {node.name: u for u, node in enumerate(nodes)}
        ends = _ends(links, index)
        relays = np.array([node.relays for node in nodes])
        costs = _costs(links)
        cost, hops = _distances(len(nodes), ends, costs, relays)
        _check_joined(nodes, cost)
        route = _routes(ends, costs, relays, cost, hops)
        return Underlay(tuple(links), frozen(route), frozen(ends), frozen(relays))

    def along(self, per_link: FloatArray) -> FloatArray:
        """Return (n_nodes, n_nodes) the sums of values (n_links,) along the routes."""
        total: FloatArray = np.append(per_link, 0.0)[self.route].sum(axis=0)
        return total

    @property
    def delay_ms(self) -> FloatArray:
        """(n_nodes, n_nodes) delays along the routes."""
        return self.along(np.array([each.delay_ms for each in self.links], dtype=float))

    @property
    def narrowest(self) -> FloatArray:
        """(n_nodes, n_nodes) least bandwidth along the routes, infinite from a node to itself."""
        least: FloatArray = np.append(self.bandwidth, np.inf)[self.route].min(axis=0, initial=np.inf)
        return least

    @property
    def followed(self) -> bool:
        """Whether every link joins two nodes of this network, so that a flow can be followed over them."""
        return self.near is None and bool((self.ends >= 0).all())

    @property
    def beside(self) -> BoolArray:
        """(n_nodes, n_nodes) whether nodes are the same or neighbours."""
        count = len(self.relays)
        beside = np.eye(count, dtype=np.bool_)
        if self.near is not None:
            return beside | self.near
        first, second = self.ends[(self.ends >= 0).all(axis=1)].T
        beside[first, second] = beside[second, first] = True
        return beside

    def restricted(self, nodes: IntArray) -> Underlay:
        """Return the routes between some of the nodes, in the order given; they lead through others too."""
        position = np.full(len(self.relays), -1)
        position[nodes] = np.arange(len(nodes))
        ends = np.where(self.ends < 0, -1, position[self.ends])
        route = self.route[:, nodes[:, None], nodes]
        near = None if self.near is None else frozen(self.near[np.ix_(nodes, nodes)])
        relays = frozen(self.relays[nodes])
        return replace(self, route=frozen(route), ends=frozen(ends), relays=relays, near=near)


def _costs(links: Sequence[UnderlayLink]) -> list[float]:
    """Return the cost of each link; where none is stated, its delay."""
    if all(each.cost is None for each in links):
        return [each.delay_ms for each in links]
    return [each.cost or 0.0 for each in links]


def _ends(links: Sequence[UnderlayLink], index: Mapping[str, int]) -> IntArray:
    ends = np.zeros((len(links), 2), dtype=np.int64)
    seen: dict[frozenset[str], int] = {}
    for k, link in enumerate(links):
        for side, each in enumerate(link.between):
            if each not in index:
                raise ModelError(f"links[{k}].between[{side}]", f"{shown(each)} is not a node of the network")
            ends[k, side] = index[each]
        earlier = seen.setdefault(frozenset(link.between), k)
        if earlier != k:
            raise ModelError(f"links[{k}].between", f"links[{earlier}] joins {link.title} already")
    return ends


def _distances(
    count: int, ends: IntArray, cost: Sequence[float], relays: BoolArray
) -> tuple[FloatArray, IntArray]:
    """Return (n_nodes, n_nodes) costs and numbers of links of routes; infinite costs where there are none.

    Routes between nodes that forward lead through such nodes only. All others begin or end with a link to
    one of them.
    """
    least = np.full((count, count), np.inf)
    hops = np.ones((count, count), dtype=np.int64)
    least[ends[:, 0], ends[:, 1]] = least[ends[:, 1], ends[:, 0]] = cost
    np.fill_diagonal(least, 0.0)
    np.fill_diagonal(hops, 0)
    inner, outer = np.flatnonzero(relays), np.flatnonzero(~relays)
    least_inner, hops_inner = least[np.ix_(inner, inner)], hops[np.ix_(inner, inner)]
    for via in range(len(inner)):
        _improve(
            least_inner,
            hops_inner,
            least_inner[:, via, None] + least_inner[via],
            hops_inner[:, via, None] + hops_inner[via],
        )
    least[np.ix_(inner, inner)], hops[np.ix_(inner, inner)] = least_inner, hops_inner
    beside = {u: inner[np.isfinite(least[u, inner])].tolist() for u in outer.tolist()}
    for columns in (inner, outer):
        for u, gates in beside.items():
            row, row_hops = least[u, columns], hops[u, columns]
            for via in gates:
                _improve(
                    row, row_hops, least[u, via] + least[via, columns], hops[u, via] + hops[via, columns]
                )
            least[u, columns], hops[u, columns] = row, row_hops
            least[columns, u], hops[columns, u] = row, row_hops
    return least, hops


def _improve(least: FloatArray, hops: IntArray, way: FloatArray, far: IntArray) -> None:
    """Take the ways that are better than those known, in place."""
    with np.errstate(invalid="ignore"):  # infinite minus infinite: no way, before and after
        alike = np.abs(way - least) <= EQUAL * np.maximum(1.0, way)
    better = np.where(alike, far < hops, way < least)
    least[better], hops[better] = way[better], far[better]


def _check_joined(nodes: Sequence[Node], cost: FloatArray) -> None:
    apart = np.argwhere(np.isinf(cost))
    if apart.size:
        first, second = (nodes[u].name for u in apart[0].tolist())
        raise ModelError("links", f"no route leads from node {first} to node {second}")


def _routes(
    ends: IntArray, cost: Sequence[float], relays: BoolArray, least: FloatArray, hops: IntArray
) -> IntArray:
    """Return the routes: from each node they go on to the first neighbour that is on one."""
    count = len(relays)
    beside: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for k, (a, b) in enumerate(ends.tolist()):
        beside[a].append((b, k))
        beside[b].append((a, k))
    first = np.full((count, count), -1, dtype=np.int64)  # the neighbour behind the row's node
    link = np.full((count, count), NO_LINK, dtype=np.int64)
    for u in range(count):
        for neighbour, k in sorted(beside[u]):
            way = cost[k] + least[neighbour]
            on_one = (np.abs(way - least[u]) <= EQUAL * np.maximum(1.0, way)) & (
                hops[neighbour] + 1 == hops[u]
            )
            if not relays[neighbour]:
                on_one &= np.arange(count) == neighbour
            new = on_one & (first[u] < 0)
            first[u, new], link[u, new] = neighbour, k
    layers = []
    start, end = np.triu_indices(count, 1)
    at = start.copy()
    for _ in range(int(hops.max(initial=0))):
        under_way = at != end
        layer = np.full((count, count), NO_LINK, dtype=np.int64)
        layer[start[under_way], end[under_way]] = link[at[under_way], end[under_way]]
        layers.append(np.maximum(layer, layer.T))
        at[under_way] = first[at[under_way], end[under_way]]
    return np.array(layers, dtype=np.int64).reshape(len(layers), count, count)
