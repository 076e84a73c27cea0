"""`ils`: iterated local search by a population of placements; our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import whole_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.search.iterated import PATIENCE, WALKERS, iterated_search

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class IlsParameters:
    """Settings of `ils`.

    Attributes:
        patience: Iterations without a better placement after which to stop (>= 1); None: only the deadline
            ends the search, and without one a single iteration is made.
        walkers: Placements that walk side by side (>= 2).
    """

    patience: int | None = PATIENCE
    walkers: int = WALKERS

    def __post_init__(self) -> None:
        if self.patience is not None:
            whole_number("patience", self.patience, 1)
        whole_number("walkers", self.walkers, 2)


def ils(problem: Problem, parameters: IlsParameters, context: Context, /) -> Suggestion:
    """Improve the greedy placement by walks and descents; see `iterated_search`."""
    return iterated_search(problem, context, parameters.patience, parameters.walkers)


ENTRY = StrategyEntry(
    name="ils",
    solve=ils,
    parameters=IlsParameters,
    summary="a population of walkers that descend, cross ridges and exchange placements",
    anytime=True,
    never_worse_than_greedy=True,
    limits=("patience",),
)
