"""`tabu-search`: on from the local optimum, never back (paper 000, section 6.3 and Algorithm 5)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.base.work import Iterations
from scheduler.contract.incumbent import WORST
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import Rank, evaluate
from scheduler.evaluation.moves import MoveEvaluator
from scheduler.evaluation.relocations import RelocationEvaluator
from scheduler.search.local_optimum import local_optimum, node_list

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class TabuSearchParameters:
    """Settings of `tabu-search`.

    Attributes:
        list_length: tl_max, the latest placements that are not visited again (>= 1).
        patience: Steps without a better placement after which to stop (>= 1); 1 is the paper's Algorithm 5
            word by word. None: only the deadline ends the search, and without one a single step is made.
    """

    list_length: int = 1000
    patience: int | None = 100

    def __post_init__(self) -> None:
        whole_number("list_length", self.list_length, 1)
        if self.patience is not None:
            whole_number("patience", self.patience, 1)


def tabu_search(problem: Problem, parameters: TabuSearchParameters, context: Context, /) -> Suggestion:
    """From the local optimum, go on to the best neighbour that was not visited lately, better or worse.

    Neighbours are those of `local-search`: co-locating, swapping resources, moving single operators.

    Complexity of a step: see `MoveEvaluator.single_moves` and `RelocationEvaluator.best`.
    """
    first = local_optimum(problem, context)
    if first.placement is None or context.deadline.expired():
        return first
    best, rank = first.placement, evaluate(problem, first.placement).rank
    steps = _Steps(problem, best, parameters.list_length)
    stop = Iterations(context.deadline, parameters.patience, "steps")
    while (why := stop.reason()) is None:
        if not steps.advance(context.deadline):
            return Suggestion(best, "every neighbour was visited")
        stop.note(improved=steps.rank < rank)
        if steps.rank < rank:
            best, rank = steps.placement, steps.rank
    return Suggestion(best, why)


class _Steps:
    """A placement that moves on to its best neighbour, and the list of placements it may not return to."""

    def __init__(self, problem: Problem, placement: IntArray, list_length: int) -> None:
        self.placement = placement
        self.rank = evaluate(problem, placement).rank
        self._problem = problem
        self._nodes = node_list(problem, placement)
        self._moves = MoveEvaluator(problem)
        self._relocations = RelocationEvaluator(problem, self._moves)
        self._visited: OrderedDict[bytes, None] = OrderedDict([(placement.tobytes(), None)])
        self._list_length = list_length

    def advance(self, deadline: Deadline) -> bool:
        """Go to the best neighbour that is not on the list; return whether there is one."""
        single, limit = self._best_single_move(deadline)
        relocation = self._relocations.best(
            self.placement, self._nodes, limit, permitted=self._permitted, deadline=deadline
        )
        if relocation is not None:
            origin, destination = relocation
            single = np.where(self.placement == origin, destination, self.placement)
        if single is None:
            return False
        self.placement, self.rank = single, evaluate(self._problem, single).rank
        self._visited[single.tobytes()] = None
        if len(self._visited) > self._list_length:
            self._visited.popitem(last=False)
        return True

    def _permitted(self, placement: IntArray) -> bool:
        return placement.tobytes() not in self._visited

    def _best_single_move(self, deadline: Deadline) -> tuple[IntArray | None, Rank]:
        """Return the best permitted move of one operator, co-locations included, and its rank."""
        costs = self._moves.single_moves(self.placement, deadline)
        ranked = costs.best_first(self.placement, self._nodes)
        return next((each for each in ranked if self._permitted(each[0])), (None, WORST))


ENTRY = StrategyEntry(
    name="tabu-search",
    solve=tabu_search,
    parameters=TabuSearchParameters,
    summary="on from the local optimum through the best placements not visited lately",
    anytime=True,
    never_worse_than_greedy=True,
    limits=("patience",),
)
