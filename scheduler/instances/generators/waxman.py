"""One level of a Waxman random graph, grown as the generator BRITE grows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import ModelError, at_least

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True)
class WaxmanLevel:
    """Parameters of one level of the network, named as in BRITE's configuration files.

    BRITE divides the plane into squares of side LS only for heavy-tailed placement, and its acceptance
    probability alpha exp(-d / (beta L)) enters incremental growth as a ratio; so neither LS nor alpha
    changes the network's distribution. They are listed because paper 000 (Table 1) gives them.

    Attributes:
        side: HS, side of the plane on which the nodes lie.
        inner_side: LS, side of the inner squares.
        alpha: Waxman's factor.
        beta: Waxman's reach: links of length beta sqrt(2) HS are e times rarer than the shortest.
        links_per_node: m, links that each new node brings.
    """

    side: float
    inner_side: float
    alpha: float = 0.15
    beta: float = 0.20
    links_per_node: int = 2

    def __post_init__(self) -> None:
        for name in ("side", "inner_side", "alpha", "beta"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ModelError(name, f"expected a number > 0, got {getattr(self, name):g}")
        at_least("links_per_node", 1, self.links_per_node)


@dataclass(frozen=True, eq=False)
class WaxmanGraph:
    """A connected random graph on a plane.

    Attributes:
        points: (n, 2) where the nodes lie.
        edges: Pairs (lower index, higher index), each once, sorted.
    """

    points: FloatArray
    edges: tuple[tuple[int, int], ...]


def waxman(count: int, level: WaxmanLevel, random: np.random.Generator) -> WaxmanGraph:
    """Return a connected Waxman graph by incremental growth.

    Nodes lie uniformly on the plane (BRITE: node placement "random"). Nodes m, m + 1, ... join one after
    the other, each with m links to earlier ones; at last the first m nodes get m links to later ones (BRITE:
    growth type "incremental"). The far end is drawn with a probability in proportion to
    exp(-d / (beta sqrt(2) HS)) among the nodes not yet linked.

    Args:
        count: Number of nodes (at least 1).
        level: Parameters.
        random: Source of chance.

    Raises:
        ModelError: The count is less than 1.
    """
    at_least("count", 1, count)
    points = random.uniform(0.0, level.side, (count, 2))
    reach = level.beta * math.sqrt(2.0) * level.side
    m = min(level.links_per_node, max(1, count // 2))
    linked: list[set[int]] = [set() for _ in range(count)]

    def link(node: int, candidates: Iterable[int]) -> None:
        free = [other for other in candidates if other != node and other not in linked[node]]
        if not free:
            return
        weight = np.exp(-np.linalg.norm(points[free] - points[node], axis=1) / reach)
        chosen = random.choice(free, min(m, len(free)), replace=False, p=weight / weight.sum())
        for other in chosen.tolist():
            linked[node].add(other)
            linked[other].add(node)

    for node in range(m, count):
        link(node, range(node))
    for node in range(min(m, count)):
        link(node, range(m, count))
    edges = sorted((u, v) for u, others in enumerate(linked) for v in others if u < v)
    return WaxmanGraph(points, tuple(edges))
