"""The problems of the evaluation: networks and sets of graphs of paper 002, in several readings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from experiments.sweep.sweep_plan import Instance, SweepPlan
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS
from scheduler.instances.generators.terminal_graphs import SETS, SMALLEST_SET, Prices, paper_problem
from scheduler.instances.writing import to_document
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

STRATEGY_NAMES = tuple(name for name in STRATEGIES if name.startswith("inop-") or name == "cloud-greedy")
AS_PRINTED, WIDER = 1.0, 4.0
"""Factors of the bandwidths at the edge; as printed most problems have no solution (docs/design/030)."""
VARIANTS: tuple[tuple[float, Prices], ...] = ((WIDER, "pair"), (WIDER, "node"), (AS_PRINTED, "load"))
"""Readings other than the main one: what has no placement has none at any prices."""
VARIANT_SETS = (1, 6, 11)
"""Sets of graphs in these."""
LIMIT_S = 60.0


@dataclass(frozen=True, order=True)
class Case:
    """A problem.

    Attributes:
        underlay: Number of its network.
        graph_set: Number of its set of graphs.
        seed: Of network, graphs and prices.
        bandwidth: Factor of the bandwidths at the edge.
        prices: Reading of placement costs.
    """

    underlay: int
    graph_set: int
    seed: int
    bandwidth: float = WIDER
    prices: Prices = "load"

    @property
    def name(self) -> str:
        """Name of the instance."""
        return (
            f"u{self.underlay}-gs{self.graph_set}-seed{self.seed}-bandwidth{self.bandwidth:g}-{self.prices}"
        )

    @property
    def graphs(self) -> int:
        """Number of graphs."""
        return SMALLEST_SET + self.graph_set - 1

    @property
    def main(self) -> bool:
        """Whether this is the main reading."""
        return (self.bandwidth, self.prices) == (WIDER, "load")

    def problem(self) -> Problem:
        """Return the problem."""
        return paper_problem(
            self.underlay, self.graph_set, self.seed, edge_bandwidth=self.bandwidth, prices=self.prices
        )


@dataclass(frozen=True)
class Extent:
    """How much is evaluated.

    Attributes:
        seeds: Problems of each network and set of graphs (>= 1); the paper has 5.
        variant_seeds: The same in each other reading (>= 0).
    """

    seeds: int = 5
    variant_seeds: int = 1

    def cases(self) -> tuple[Case, ...]:
        """Return all problems; the first ones have every network and set."""
        main = [Case(u, k, seed) for seed, u, k in product(range(self.seeds), UNDERLAYS, SETS)]
        variants = [
            Case(u, k, seed, *reading)
            for seed, reading, u, k in product(range(self.variant_seeds), VARIANTS, UNDERLAYS, VARIANT_SETS)
        ]
        return (*main, *variants)


def sweep_of(extent: Extent) -> SweepPlan:
    """Return the sweep: every strategy on every problem, with its own limits of work, within a minute."""
    instances = [Instance(case.name, json.dumps(to_document(case.problem()))) for case in extent.cases()]
    return SweepPlan(tuple(instances), STRATEGY_NAMES, (0,), LIMIT_S, until_deadline=False)
