"""What is measured: problems, and variants of strategies with their time limits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES, SIZES
from scheduler.registry import STRATEGIES, anywhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, order=True)
class ProblemKey:
    """One of the paper's problems (`scheduler.instances.generators.paper.paper_problem`)."""

    seed: int
    nodes: int
    application: str
    objective: str

    def __str__(self) -> str:
        return f"{self.application} {self.objective} {self.nodes} nodes seed {self.seed}"


Limit = float | None

TIMED = ("ils", "portfolio")
"""Strategies whose quality is a matter of time: another limit is another variant, named after it."""


PROOF = "odp"
"""It goes first on every problem: what it proves ends the runs of others that have reached it."""


@dataclass(frozen=True)
class Variant:
    """A strategy as it is measured.

    Attributes:
        label: Name in rows and tables; unique.
        strategy: Name in the registry.
        limit_s: Seconds to its deadline; None lets it end by itself.
        long_limit_s: Likewise for the hardest problems: the replicated application with equal weights.
    """

    label: str
    strategy: str
    limit_s: Limit = None
    long_limit_s: Limit = None

    @property
    def ends_at_optimum(self) -> bool:
        """Whether a run that would use up its time may be ended at a proved optimum."""
        entry = STRATEGIES[self.strategy]
        return self.limit_s is not None and bool(entry.limits) and not entry.exact

    def limit_for(self, problem: ProblemKey) -> Limit:
        """Return the seconds for one problem."""
        hardest = (problem.application, problem.objective) == ("replicated", "equal")
        return self.long_limit_s if hardest and self.long_limit_s is not None else self.limit_s


@dataclass(frozen=True)
class Grid:
    """Problems times variants.

    Attributes:
        name: Said in the report.
        sizes: Numbers of nodes.
        seeds: Seeds of the networks, and of the strategies.
        limits: Seconds by strategy, one variant for each, None for one that ends by itself; a strategy that
            is not named has `other_limit_s` if it is exact or can use up any time, and else none.
        long_limits: Seconds for the hardest problems, by strategy.
        other_limit_s: See `limits`.
    """

    name: str
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    limits: Mapping[str, tuple[Limit, ...]]
    long_limits: Mapping[str, float]
    other_limit_s: float

    def problems(
        self, applications: Sequence[str] = tuple(APPLICATIONS), objectives: Sequence[str] = tuple(OBJECTIVES)
    ) -> Iterator[ProblemKey]:
        """Yield the problems, seed by seed, so that an interrupted run has covered all kinds."""
        for seed, nodes, application, objective in product(self.seeds, self.sizes, applications, objectives):
            yield ProblemKey(seed, nodes, application, objective)

    def variants(self) -> list[Variant]:
        """Return the variants of all registered strategies, those that prove something first."""
        made = []
        for name in anywhere():
            entry = STRATEGIES[name]
            timed = entry.exact or bool(entry.limits)
            limits = self.limits.get(name, (self.other_limit_s if timed else None,))
            made += [
                Variant(
                    label=name if limit is None or name not in TIMED else f"{name} {limit:g} s",
                    strategy=name,
                    limit_s=limit,
                    long_limit_s=self.long_limits.get(name),
                )
                for limit in limits
            ]
        return sorted(made, key=lambda variant: variant.strategy != PROOF)


FULL = Grid(
    name="full",
    sizes=SIZES,
    seeds=(0, 1, 2, 3, 4),
    limits={
        **dict.fromkeys(("odp", "hierarchical", "odp-ps", "res-odp"), (60.0,)),
        "tabu-search": (None,),
        "ils": (2.0, 10.0),
    },
    long_limits={"odp": 120.0},
    other_limit_s=10.0,
)
REDUCED = Grid(
    name="reduced (smallest and largest network, one seed, short limits)",
    sizes=(SIZES[0], SIZES[-1]),
    seeds=(0,),
    limits={
        **dict.fromkeys(("hierarchical", "odp-ps", "res-odp"), (5.0,)),
        "odp": (10.0,),
        "odp-timeout": (3.0,),
        "tabu-search": (None,),
        "ils": (2.0,),
    },
    long_limits={},
    other_limit_s=5.0,
)
