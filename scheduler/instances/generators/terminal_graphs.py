"""Operator graphs between fixed sources and sinks, in growing sets (paper 002, table III).

The paper's drawing of its graphs is lost; these fit every row of its table. Set k + 1 contains set k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from scheduler.base.checks import one_of
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS, edge_fog_cloud
from scheduler.model.application import Application, Operator, Stream
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.objective import Objective
from scheduler.model.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.model.network import Network

Prices = Literal["load", "pair", "node"]
"""Readings of placement costs of 10 to 30: per unit of load and drawn for each operator and node, per
operator and node whatever its load, or per unit of load and drawn for each node."""
LINKS_OF_OPERATORS: Mapping[int, tuple[tuple[int, int], ...]] = {
    3: ((0, 1), (1, 2)),
    4: ((0, 1), (0, 2), (1, 3), (2, 3)),
    5: ((0, 1), (1, 2), (1, 3), (2, 4), (3, 4)),
}
"""Streams between the operators of a graph, by their number: chain, diamond, diamond behind an operator."""


@dataclass(frozen=True)
class GraphShape:
    """A graph.

    Attributes:
        operators: How many.
        edge_sources: Sources at the edge.
        cloud_sources: Sources in the cloud.
        edge_sinks: Sinks at the edge.
        cloud_sinks: Sinks in the cloud.
    """

    operators: int
    edge_sources: int
    cloud_sources: int
    edge_sinks: int
    cloud_sinks: int


SHAPES = tuple(
    GraphShape(*row)
    for row in (
        (3, 1, 0, 1, 0),
        (4, 2, 0, 1, 1),
        (3, 1, 0, 0, 1),
        (4, 2, 0, 1, 0),
        (3, 2, 0, 1, 0),
        (3, 2, 0, 0, 2),
        (4, 0, 1, 0, 1),
        (4, 1, 2, 1, 1),
        (4, 1, 0, 1, 0),
        (3, 1, 1, 2, 1),
        (4, 2, 0, 1, 0),
        (5, 1, 0, 1, 0),
        (3, 1, 0, 2, 0),
        (3, 0, 1, 0, 1),
        (4, 3, 0, 1, 1),
    )
)
"""The graphs of the largest set."""
SMALLEST_SET = 5
"""Graphs of set 1; each further set has one more."""
SETS = tuple(range(1, len(SHAPES) - SMALLEST_SET + 2))
"""Numbers of the sets."""
EDGE_BANDWIDTH = 4.0
"""Factor of the bandwidths at the edge: as printed, most problems have no solution (docs/design/030)."""
MANY_BANDWIDTH = 8.0
"""The same where there are as many graphs as nodes: less does not carry what ends at some nodes."""


def paper_problem(
    underlay: int,
    graph_set: int,
    seed: int,
    *,
    edge_bandwidth: float = EDGE_BANDWIDTH,
    prices: Prices = "load",
    alpha: float = 0.5,
) -> Problem:
    """Return a problem of the paper's evaluation.

    Args:
        underlay: Number of the network.
        graph_set: Number of the set of graphs.
        seed: Of network, graphs and prices, which are drawn apart.
        edge_bandwidth: As of `edge_fog_cloud`.
        prices: Reading of the placement costs.
        alpha: Weight of placement cost against link cost.
    """
    network = edge_fog_cloud(UNDERLAYS[underlay], np.random.default_rng([seed, 0]), edge_bandwidth)
    shapes = SHAPES[: SMALLEST_SET + graph_set - 1]
    return Problem(
        terminal_graphs(network, shapes, seed, prices),
        network,
        Objective({"placement_cost": alpha, "link_cost": 1.0 - alpha}),
        constraints=(LinkBandwidth(),),
    )


def many_graphs(factor: int, seed: int, edge_bandwidth: float = MANY_BANDWIDTH) -> Problem:
    """Return a problem of many graphs: as many as nodes, of four operators each on average.

    The paper's largest network has 100 nodes; this one is like it, so many times as large.

    Args:
        factor: How many times.
        seed: Of network, graphs and prices, which are drawn apart.
        edge_bandwidth: As of `edge_fog_cloud`.
    """
    counts = UNDERLAYS[max(UNDERLAYS)].times(factor)
    network = edge_fog_cloud(counts, np.random.default_rng([seed, 0]), edge_bandwidth)
    sizes = sorted(LINKS_OF_OPERATORS)
    shapes = [
        replace(SHAPES[k % len(SHAPES)], operators=sizes[k % len(sizes)]) for k in range(len(network.nodes))
    ]
    return Problem(
        terminal_graphs(network, shapes, seed),
        network,
        Objective({"placement_cost": 0.5, "link_cost": 0.5}),
        constraints=(LinkBandwidth(),),
    )


def terminal_graphs(
    network: Network, shapes: Sequence[GraphShape], seed: int, prices: Prices = "load"
) -> Application:
    """Return graphs on a network of tiers; names are those of the graph, a dot, and o1, src1 or snk1.

    Loads are 2 to 5, traffic 5 to 20 (bytes/s, of tuples of one byte), prices 10 to 30, all whole and evenly
    drawn. Ends in the cloud are anywhere, those at the edge in one random cluster per graph, and none comes
    to a node a second time before every node there had one.

    Args:
        network: As of `edge_fog_cloud`.
        shapes: One per graph.
        seed: Of graphs and prices.
        prices: Reading of the placement costs.
    """
    one_of("prices", prices, get_args(Prices))
    of_node = np.random.default_rng([seed, 1]).integers(10, 31, len(network.nodes)).astype(float)
    used: dict[str, int] = {}
    operators: list[Operator] = []
    streams: list[Stream] = []
    for k, shape in enumerate(shapes):
        drawn = of_node if prices == "node" else None
        made = _Graph(network, f"g{k + 1}", np.random.default_rng([seed, 2, k]), used)
        operators += made.operators(shape, prices, drawn)
        streams += made.streams(shape, alternate=k % 2 == 1)
    return Application(tuple(operators), tuple(streams))


class _Graph:
    def __init__(
        self, network: Network, name: str, random: np.random.Generator, used: dict[str, int]
    ) -> None:
        self.network, self.name, self.random, self.used = network, name, random, used
        clusters = sorted({str(node.site) for node in network.nodes if node.tier == "edge"})
        self.home = clusters[int(random.integers(len(clusters)))]

    def operators(self, shape: GraphShape, prices: Prices, of_node: np.ndarray | None) -> list[Operator]:
        """Return sources, operators and sinks."""
        sources = self._ends("src", "source", shape.edge_sources, shape.cloud_sources)
        placed = [self._operator(i, prices, of_node) for i in range(shape.operators)]
        return [*sources, *placed, *self._ends("snk", "sink", shape.edge_sinks, shape.cloud_sinks)]

    def _operator(self, i: int, prices: Prices, of_node: np.ndarray | None) -> Operator:
        load = float(self.random.integers(2, 6))
        drawn = self.random.integers(10, 31, len(self.network.nodes)).astype(float)
        price = drawn if of_node is None else of_node
        costs = price if prices == "pair" else load * price
        names = [node.name for node in self.network.nodes]
        return Operator(
            f"{self.name}.o{i + 1}",
            demand={"load": load},
            graph=self.name,
            role="operator",
            placement_cost=dict(zip(names, costs.tolist(), strict=True)),
        )

    def _ends(self, prefix: str, role: str, at_edge: int, in_cloud: int) -> list[Operator]:
        tiers = ["edge"] * at_edge + ["cloud"] * in_cloud
        return [
            Operator(
                f"{self.name}.{prefix}{k + 1}",
                demand={"load": 0.0},
                allowed=(self._place(tier),),
                graph=self.name,
                role=role,
                placement_cost=0.0,
            )
            for k, tier in enumerate(tiers)
        ]

    def _place(self, tier: str) -> str:
        nodes = [node.name for node in self.network.nodes if node.tier == tier]
        if tier == "edge":
            nodes = [node.name for node in self.network.nodes if node.site == self.home]
        fewest = min(self.used.get(each, 0) for each in nodes)
        free = [each for each in nodes if self.used.get(each, 0) == fewest]
        chosen = free[int(self.random.integers(len(free)))]
        self.used[chosen] = fewest + 1
        return chosen

    def streams(self, shape: GraphShape, *, alternate: bool) -> list[Stream]:
        """Return the streams: sources feed the first operator, or two in turn; the last two feed sinks."""
        n_sources = shape.edge_sources + shape.cloud_sources
        n_sinks = shape.edge_sinks + shape.cloud_sinks
        pairs = [(f"src{k + 1}", f"o{2 if alternate and k % 2 else 1}") for k in range(n_sources)]
        pairs += [(f"o{i + 1}", f"o{j + 1}") for i, j in LINKS_OF_OPERATORS[shape.operators]]
        pairs += [(f"o{shape.operators - k % 2}", f"snk{k + 1}") for k in range(n_sinks)]
        return [
            Stream(f"{self.name}.{i}", f"{self.name}.{j}", float(self.random.integers(5, 21)), 1.0)
            for i, j in pairs
        ]
