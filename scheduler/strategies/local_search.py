"""`local-search`: descent over three neighbourhoods (paper 000, section 6.2 and Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.construct.first_fit import breadth_first_operators
from scheduler.construct.penalty import LinkPenalty
from scheduler.contract.strategy import Context, NoParameters, Suggestion
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.search.descent import Descent
from scheduler.strategies.greedy import greedy, pinned_nodes

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

OVER = "the deadline ended the search"


@dataclass(frozen=True)
class LocalSearchParameters:
    """Settings of `local-search`.

    Attributes:
        start: ``greedy``: begin with the greedy placement (the paper's way). ``current``: begin with
            `Problem.current` if it is complete, feasible and no worse than greedy, else with greedy.
        max_rounds: Rounds of the three neighbourhoods after which to stop (>= 0); a local optimum ends the
            search earlier.
    """

    start: Literal["greedy", "current"] = "greedy"
    max_rounds: int = 10_000

    def __post_init__(self) -> None:
        if self.start not in ("greedy", "current"):
            raise ValueError(f'start: expected "greedy" or "current", got {self.start!r}')
        if isinstance(self.max_rounds, bool) or not isinstance(self.max_rounds, int) or self.max_rounds < 0:
            raise ValueError(f"max_rounds: expected a whole number >= 0, got {self.max_rounds!r}")


def local_search(problem: Problem, parameters: LocalSearchParameters, context: Context, /) -> Suggestion:
    """Improve the start by co-locating, swapping resources and moving single operators until none helps.

    Each step takes the best neighbour, by F and then by mean delay of the streams; only improvements are
    taken, so the result is never worse than the greedy placement at any moment.

    Complexity of a round: see `MoveEvaluator.single_moves` and `RelocationEvaluator.best`.
    """
    first = greedy(problem, NoParameters(), context)
    start = _start(problem, first, parameters)
    if start is None:
        return first
    if context.deadline.expired():
        return Suggestion(start, OVER)
    reference = first.placement if first.placement is not None else start
    descent = Descent(problem, start, node_list(problem, reference))
    for _ in range(parameters.max_rounds):
        before = descent.rank
        if not descent.round(context.deadline):
            return Suggestion(descent.placement, OVER)
        if descent.rank == before:
            return Suggestion(descent.placement, "local optimum: no neighbour is better")
    return Suggestion(descent.placement, f"{parameters.max_rounds} rounds ended the search")


def _start(problem: Problem, first: Suggestion, parameters: LocalSearchParameters) -> IntArray | None:
    current = problem.current
    if parameters.start == "greedy" or current is None or check(problem, current):
        return first.placement
    if first.placement is None or evaluate(problem, current).rank <= evaluate(problem, first.placement).rank:
        return current
    return first.placement


def node_list(problem: Problem, placement: IntArray) -> IntArray:
    """Return the list L; without pins the first source counts as pinned where it was placed."""
    pinned = pinned_nodes(problem)
    references = pinned if pinned.size else placement[breadth_first_operators(problem)[:1]]
    return LinkPenalty.of(problem).order(references)
