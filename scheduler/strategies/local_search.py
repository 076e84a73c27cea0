"""`local-search`: descent over three neighbourhoods (paper 000, section 6.2 and Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from scheduler.evaluation import check, evaluate
from scheduler.first_fit import breadth_first_operators
from scheduler.moves import MoveCosts, MoveEvaluator, co_locations
from scheduler.penalty import LinkPenalty
from scheduler.strategies.greedy import greedy, pinned_nodes
from scheduler.strategy import Context, NoParameters, Suggestion

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.problem import Problem


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

    Complexity of a round: see `MoveEvaluator.single_moves` and `MoveEvaluator.best_relocation`.
    """
    first = greedy(problem, NoParameters(), context)
    start = _start(problem, first, parameters)
    if start is None:
        return first
    descent = _Descent(
        problem, start, _node_list(problem, first.placement if first.placement is not None else start)
    )
    for _ in range(parameters.max_rounds):
        before = descent.rank
        for improve in (descent.co_locate, descent.swap_resources, descent.move_single):
            if context.deadline.expired():
                return Suggestion(descent.placement, "the deadline ended the search")
            improve()
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


def _node_list(problem: Problem, placement: IntArray) -> IntArray:
    """Return the list L; without pins the first source counts as pinned where it was placed."""
    pinned = pinned_nodes(problem)
    references = pinned if pinned.size else placement[breadth_first_operators(problem)[:1]]
    return LinkPenalty.of(problem).order(references)


class _Descent:
    """A placement that only ever improves."""

    def __init__(self, problem: Problem, placement: IntArray, nodes: IntArray) -> None:
        self.placement = placement
        self.rank = evaluate(problem, placement).rank
        self._problem = problem
        self._nodes = nodes
        self._moves = MoveEvaluator(problem)

    def co_locate(self) -> None:
        """Move one of two communicating operators to the other's node."""
        joins = co_locations(self._problem, self.placement)
        costs = self._moves.single_moves(self.placement)
        self._take_single(MoveCosts(np.where(joins, costs.objective, np.inf), costs.mean_delay_ms))

    def swap_resources(self) -> None:
        """Replace a node by another one: all its operators move there."""
        found = self._moves.best_relocation(self.placement, self._nodes, self.rank)
        if found is not None:
            origin, destination = found
            self._take(np.where(self.placement == origin, destination, self.placement))

    def move_single(self) -> None:
        """Move one operator to any node."""
        self._take_single(self._moves.single_moves(self.placement))

    def _take_single(self, costs: MoveCosts) -> None:
        # columns in the order of L, so that among equals the node nearest to the pinned ones is taken
        listed = MoveCosts(costs.objective[:, self._nodes], costs.mean_delay_ms[:, self._nodes])
        best = listed.best()
        if best is not None:
            operator, column = divmod(best, self._problem.n_nodes)
            candidate = self.placement.copy()
            candidate[operator] = self._nodes[column]
            self._take(candidate)

    def _take(self, candidate: IntArray) -> None:
        """Accept the candidate if the full evaluation confirms that it is better."""
        rank = evaluate(self._problem, candidate).rank
        if rank < self.rank:
            self.placement, self.rank = candidate, rank
