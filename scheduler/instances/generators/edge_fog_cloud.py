"""Networks of edge, fog and cloud nodes (paper 002, section V-A, tables I and II).

What the paper leaves open is drawn as docs/design/030 says: a random tree of fog nodes and some further
links, one cloud node per fog node, edge nodes in clusters around distinct fog nodes, their gateways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError
from scheduler.model.network import Network, Node, linked_network
from scheduler.model.underlay import UnderlayLink

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

FOG_LINK = 0.2
"""Probability of a link between two fog nodes, beside their tree."""


@dataclass(frozen=True)
class TierCounts:
    """A row of table I.

    Attributes:
        cloud: Nodes.
        fog: Nodes.
        edge: Nodes, evenly split over the clusters.
        joined: By cluster, probability of a link from an edge node to each fog node but its gateway, and to
            each other edge node of its cluster.
        sparser: By what probabilities of links to fog nodes are divided.
    """

    cloud: int
    fog: int
    edge: int
    joined: tuple[float, ...]
    sparser: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.cloud <= self.fog:
            raise ModelError("cloud", f"expected from 1 to the {self.fog} fog nodes, got {self.cloud}")
        if not 1 <= len(self.joined) <= min(self.fog, self.edge):
            most = min(self.fog, self.edge)
            raise ModelError("joined", f"expected from 1 to {most} clusters, got {len(self.joined)}")

    def times(self, factor: int) -> TierCounts:
        """Return a network of so many times the nodes and clusters, whose nodes have as many links as here.

        Only cloud nodes, which are all linked with each other, have more.
        """
        return replace(
            self,
            cloud=factor * self.cloud,
            fog=factor * self.fog,
            edge=factor * self.edge,
            joined=factor * self.joined,
            sparser=factor * self.sparser,
        )


UNDERLAYS: Mapping[int, TierCounts] = {
    1: TierCounts(2, 5, 16, (0.1, 0.3)),
    2: TierCounts(5, 10, 36, (0.1, 0.3, 0.2)),
    3: TierCounts(10, 20, 70, (0.1, 0.3, 0.2, 0.1, 0.4)),
}
"""The paper's networks by number."""


def edge_fog_cloud(counts: TierCounts, random: np.random.Generator, edge_bandwidth: float = 1.0) -> Network:
    """Return a random network; nodes are named c1, f1, e1, and so on, and an edge node's site is its cluster.

    Args:
        counts: How many of what.
        random: Source of chance.
        edge_bandwidth: Factor of the bandwidth of links with an end at the edge and none in the cloud.
    """
    clouds, fogs, edges = (
        [f"{letter}{k + 1}" for k in range(count)]
        for letter, count in (("c", counts.cloud), ("f", counts.fog), ("e", counts.edge))
    )
    gateways = random.permutation(counts.fog)[: len(counts.joined)].tolist()
    cluster = [k * len(counts.joined) // counts.edge for k in range(counts.edge)]
    pairs = _upper_pairs(clouds, fogs, FOG_LINK / counts.sparser, random)
    for k, name in enumerate(edges):
        gateway, chance = gateways[cluster[k]], counts.joined[cluster[k]]
        to_fog = chance / counts.sparser
        pairs += [(fog, name) for f, fog in enumerate(fogs) if f == gateway or random.random() < to_fog]
        beside = [edges[j] for j in range(k) if cluster[j] == cluster[k]]
        pairs += [(other, name) for other in beside if random.random() < chance]
    nodes = [
        *(Node(name, {"load": 100.0}, tier="cloud") for name in clouds),
        *(Node(name, {"load": float(random.integers(20, 61))}, tier="fog") for name in fogs),
        *(
            Node(name, {"load": float(random.integers(5, 21))}, tier="edge", site=f"cluster-{cluster[k] + 1}")
            for k, name in enumerate(edges)
        ),
    ]
    return linked_network(nodes, [_link(first, second, random, edge_bandwidth) for first, second in pairs])


def _upper_pairs(
    clouds: list[str], fogs: list[str], chance: float, random: np.random.Generator
) -> list[tuple[str, str]]:
    """Return the links of cloud and fog: all clouds with each other, fogs in a tree, each with one cloud.

    Any other two fog nodes have a link by chance.
    """
    pairs = [(clouds[i], clouds[j]) for j in range(len(clouds)) for i in range(j)]
    above = [*range(len(clouds)), *random.integers(len(clouds), size=len(fogs) - len(clouds)).tolist()]
    pairs += [(clouds[k], fog) for k, fog in zip(random.permutation(above).tolist(), fogs, strict=True)]
    parent = [int(random.integers(j)) if j else -1 for j in range(len(fogs))]
    pairs += [
        (fogs[i], fogs[j])
        for j in range(len(fogs))
        for i in range(j)
        if i == parent[j] or random.random() < chance
    ]
    return pairs


def _link(first: str, second: str, random: np.random.Generator, edge_bandwidth: float) -> UnderlayLink:
    """Return a link of the cloud if an end is there, else of the edge if one is there, else of the fog."""
    letters = {first[0], second[0]}
    if "c" in letters:
        mean, deviation, bandwidth = 200.0, 50.0, 10_000.0
    elif "e" in letters:
        mean, deviation, bandwidth = 5.0, 1.0, edge_bandwidth * float(random.integers(10, 31))
    else:
        mean, deviation, bandwidth = 20.0, 2.0, float(random.integers(1000, 5001))
    cost = 0.0
    while cost <= 0:
        cost = float(random.normal(mean, deviation))
    return UnderlayLink((first, second), cost, delay_ms=cost, bandwidth_bytes_per_s=bandwidth)
