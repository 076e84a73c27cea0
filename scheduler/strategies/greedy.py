"""`greedy`: greedy first-fit over nodes sorted by link penalty (paper 000, section 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.strategy import Context, NoParameters, StrategyEntry, Suggestion

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def greedy(problem: Problem, _parameters: NoParameters, context: Context, /) -> Suggestion:
    """Place operators breadth-first on the first fitting node; see `greedy_placement`."""
    return greedy_placement(problem, context)


ENTRY = StrategyEntry(
    name="greedy",
    solve=greedy,
    parameters=NoParameters,
    summary="first-fit over nodes sorted by link penalty to the pinned ones",
    never_worse_than_greedy=True,
    scales=True,
)
