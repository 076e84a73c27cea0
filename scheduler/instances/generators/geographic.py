"""Networks of sites on a plane, given by coordinates: no delay matrix, so of any size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.base.checks import ModelError, at_least
from scheduler.instances.generators.brite import PAPER_NODES, NodeTraits
from scheduler.model.link_table import Coordinates
from scheduler.model.network import Network


@dataclass(frozen=True)
class Geography:
    """Where sites and nodes lie, in ms of one-way delay.

    Attributes:
        side_ms: Side of the square over which the sites are scattered uniformly.
        spread_ms: Standard deviation of a node around its site, along each axis.
        height_ms: Range of the nodes' heights (access links), drawn uniformly.
    """

    side_ms: float = 80.0
    spread_ms: float = 0.5
    height_ms: tuple[float, float] = (0.05, 1.0)

    def __post_init__(self) -> None:
        if not 0.0 < self.side_ms < np.inf:
            raise ModelError("side_ms", f"expected a number > 0, got {self.side_ms:g}")
        if not 0.0 <= self.spread_ms < np.inf:
            raise ModelError("spread_ms", f"expected a number >= 0, got {self.spread_ms:g}")
        low, high = self.height_ms
        if not 0.0 <= low <= high < np.inf:
            raise ModelError("height_ms", f"expected 0 <= min <= max, got {low:g} and {high:g}")


EARTH = Geography()
"""About a continent and a half: light takes some 5 ms for 1,000 km of fibre."""


def geographic_network(
    nodes: int,
    sites: int,
    random: np.random.Generator,
    *,
    geography: Geography = EARTH,
    traits: NodeTraits = PAPER_NODES,
) -> Network:
    """Return a network whose delays are distances of coordinates plus both nodes' heights.

    Every site has at least one node; the others are dealt out at random with uneven shares, as large and
    small data centres have. Memory and time O(nodes).

    Args:
        nodes: How many (at least `sites`).
        sites: How many (at least 1).
        random: Source of chance.
        geography: Where sites and nodes lie.
        traits: Capacity, speed-up and availability of the nodes.

    Raises:
        ModelError: Too few sites or nodes.
    """
    at_least("sites", 1, sites)
    if nodes < sites:
        raise ModelError("nodes", f"expected at least one per site ({sites}), got {nodes}")
    centre = random.uniform(0.0, geography.side_ms, (sites, 2))
    share = random.exponential(1.0, sites)
    extra = random.choice(sites, nodes - sites, p=share / share.sum())
    site = np.sort(np.concatenate([np.arange(sites), extra]))
    points = centre[site] + random.normal(0.0, geography.spread_ms, (nodes, 2))
    heights = random.uniform(*geography.height_ms, nodes)
    available = random.uniform(*traits.availability, nodes)
    first = np.searchsorted(site, site)
    made = tuple(
        traits.node(f"site-{of + 1}-node-{k - start + 1}", float(up), f"site-{of + 1}")
        for k, (of, start, up) in enumerate(zip(site.tolist(), first.tolist(), available, strict=True))
    )
    return Network(made, Coordinates.of(np.column_stack([points, heights])))
