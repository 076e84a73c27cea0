"""`auto`: the strategy that suits the size of the problem; our own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.base.checks import whole_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.strategies import greedy, ils, local_search

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

SHORT_WALK = ils.IlsParameters(patience=1, walkers=2)
"""A round asks a strategy many times, of each topology: some hundredths of a second are all that there is."""


@dataclass(frozen=True)
class AutoParameters:
    """Settings of `auto`.

    Attributes:
        walk_size: Operators times nodes up to which `ils` takes a short walk (>= 0).
        descent_size: Operators times nodes up to which `local-search` descends (>= 0); `greedy` above.
    """

    walk_size: int = 100
    descent_size: int = 200_000

    def __post_init__(self) -> None:
        whole_number("walk_size", self.walk_size, 0)
        whole_number("descent_size", self.descent_size, 0)


def auto(problem: Problem, parameters: AutoParameters, context: Context, /) -> Suggestion:
    """Ask the strategy of the problem's size: the smaller, the more thorough."""
    size = len(problem.application.operators) * problem.n_nodes
    if size <= parameters.walk_size:
        return replace(ils.ils(problem, SHORT_WALK, context), by=ils.ENTRY.name)
    if size <= parameters.descent_size:
        descent = local_search.local_search(problem, local_search.LocalSearchParameters(), context)
        return replace(descent, by=local_search.ENTRY.name)
    return replace(greedy.ENTRY.solve(problem, greedy.ENTRY.parameters(), context), by=greedy.ENTRY.name)


ENTRY = StrategyEntry(
    name="auto",
    solve=auto,
    parameters=AutoParameters,
    summary="the most thorough of ils, local-search and greedy that the problem's size allows",
    anytime=True,
    never_worse_than_greedy=True,
)
