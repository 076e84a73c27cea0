"""Two-level top-down networks as BRITE generates them (paper 000, section 7.1 and Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import ModelError
from scheduler.instances.generators.waxman import WaxmanLevel, waxman
from scheduler.model.network import Network, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray

AS_LEVEL = WaxmanLevel(side=1000.0, inner_side=100.0)
ROUTER_LEVEL = WaxmanLevel(side=10000.0, inner_side=1000.0)
MEAN_DELAY_MS = 17.0


@dataclass(frozen=True)
class NodeTraits:
    """What all nodes of a generated network have in common (paper 000, Table 1).

    Attributes:
        capacity: C_u by resource name.
        speedup: S_u.
        availability: Range from which A_u is drawn uniformly.
    """

    capacity: Mapping[str, float]
    speedup: float = 1.0
    availability: tuple[float, float] = (0.97, 0.9999999)

    def __post_init__(self) -> None:
        low, high = self.availability
        if not 0.0 < low <= high <= 1.0:
            raise ModelError("availability", f"expected 0 < min <= max <= 1, got {low:g} and {high:g}")

    def node(self, name: str, availability: float, site: str) -> Node:
        """Return a node with these traits."""
        return Node(name, self.capacity, self.speedup, availability, site)


PAPER_NODES = NodeTraits({"slots": 2.0})


def two_level_waxman(
    n_as: int,
    routers_per_as: int,
    random: np.random.Generator,
    *,
    traits: NodeTraits = PAPER_NODES,
    mean_delay_ms: float = MEAN_DELAY_MS,
    as_level: WaxmanLevel = AS_LEVEL,
    router_level: WaxmanLevel = ROUTER_LEVEL,
) -> Network:
    """Return a connected network of autonomous systems (AS) whose routers are the nodes.

    As in BRITE's top-down model: a Waxman graph of AS; a Waxman graph of routers in each AS; for every
    link between two AS one link between two routers drawn at random from them (edge connection "random").
    A link's delay is in proportion to the distance of its two routers; every AS has a plane of its own, and
    these planes lie on top of each other. The plane of the AS decides which AS are linked, no more.

    The delay of a logical link d_(u,v) is the shortest path between its nodes. All are scaled together so
    that their mean over distinct pairs is `mean_delay_ms`.

    Complexity: O(n_nodes^3) in vectorised steps; networks of more than a few thousand nodes are better
    given by coordinates (`scheduler.instances.generators.geographic`).

    Args:
        n_as: Number of AS (at least 1); the paper has as many AS as routers in each.
        routers_per_as: Nodes in each (at least 1).
        random: Source of chance.
        traits: Capacity, speed-up and availability of the nodes.
        mean_delay_ms: Mean of d_(u,v), u != v (> 0).
        as_level: Graph of the AS.
        router_level: Graph of the routers within each AS.

    Raises:
        ModelError: A number is out of range.
    """
    if not 0.0 < mean_delay_ms < np.inf:
        raise ModelError("mean_delay_ms", f"expected a number > 0, got {mean_delay_ms:g}")
    systems = waxman(n_as, as_level, random)
    routers = [waxman(routers_per_as, router_level, random) for _ in range(n_as)]
    points = np.concatenate([each.points for each in routers])
    links = [
        (a * routers_per_as + u, a * routers_per_as + v) for a in range(n_as) for u, v in routers[a].edges
    ]
    for a, b in systems.edges:
        u, v = random.integers(routers_per_as, size=2).tolist()
        links.append((a * routers_per_as + u, b * routers_per_as + v))
    delay = _shortest_paths(points, links)
    total = delay.sum()
    if total > 0.0:
        count = len(points)
        delay *= mean_delay_ms * count * (count - 1) / total
    low, high = traits.availability
    available = random.uniform(low, high, len(points)).tolist()
    places = product(range(1, n_as + 1), range(1, routers_per_as + 1))
    nodes = tuple(
        traits.node(f"as-{a}-router-{u}", up, f"as-{a}") for (a, u), up in zip(places, available, strict=True)
    )
    return Network(nodes=nodes, delay_ms=delay)


def _shortest_paths(points: FloatArray, links: list[tuple[int, int]]) -> FloatArray:
    """Return (n, n) lengths of shortest paths over undirected links."""
    import networkx as nx  # noqa: PLC0415  # only this kind of network pays for the import

    graph: nx.Graph[int] = nx.empty_graph(len(points))
    graph.add_weighted_edges_from((u, v, float(np.linalg.norm(points[u] - points[v]))) for u, v in links)
    length: FloatArray = nx.floyd_warshall_numpy(graph)
    return length
