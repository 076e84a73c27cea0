"""What the experiment compares, and in which order it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments import folder

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName

STRATEGIES = (
    *("odp", "res-odp", "odp-ps", "hierarchical"),
    *("greedy", "greedy-no-penalty", "local-search", "tabu-search", "ils"),
)
STORMS_OWN: tuple[SchedulerName, ...] = ("even", "default", "ras")


@dataclass(frozen=True)
class Variant:
    """One way to place the query.

    Attributes:
        name: As `--only` and the report call it.
        scheduler: The cluster's scheduler.
        strategy: Strategy of the scheduler stormplace; None for Storm's own schedulers.
    """

    name: str
    scheduler: SchedulerName
    strategy: str | None = None


VARIANTS = (
    *(Variant(name, "stormplace", name) for name in STRATEGIES),
    *(Variant(name, name) for name in STORMS_OWN),
)


@dataclass(frozen=True)
class VariantTurn:
    """One variant in one repetition."""

    variant: Variant
    repetition: int

    @property
    def label(self) -> str:
        """Name of the turn, of its folder and of its run in Redis."""
        return f"{self.variant.name}-{self.repetition}"


def chosen(only: str | None) -> tuple[Variant, ...]:
    """Return the variants that a comma-separated list names, all without one.

    Raises:
        ExperimentError: An unknown name, or one that is named twice.
    """
    known = [variant.name for variant in VARIANTS]
    names = known if only is None else folder.chosen("--only", only, known)
    return tuple(variant for variant in VARIANTS if variant.name in names)


def turns(variants: tuple[Variant, ...], repetitions: int, seed: int) -> tuple[VariantTurn, ...]:
    """Return the turns in their order: repetition by repetition, each shuffled by the seed.

    The order of two turns is the same whichever other variants are chosen.
    """
    order = []
    for repetition in range(1, repetitions + 1):
        shuffled = np.random.default_rng((seed, repetition)).permutation(len(VARIANTS))
        order += [
            VariantTurn(VARIANTS[place], repetition) for place in shuffled if VARIANTS[place] in variants
        ]
    return tuple(order)
