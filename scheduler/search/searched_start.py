"""Where a proof starts from: local search at once, iterated local search if the proof is not quick."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.search.iterated import improve, iterated_search
from scheduler.search.local_optimum import local_optimum

if TYPE_CHECKING:
    from scheduler.contract.strategy import Context, Suggestion
    from scheduler.model.problem import Problem

SMALL = 200
"""Operators times nodes up to which the start needs no more than local search."""
SHORT_PATIENCE, FEW_WALKERS = 1, 12
"""Of the short iterated search on problems that are not small."""


class SearchedStart:
    """A start by search, as `scheduler.exact.start.Start` wants one.

    The longer search draws the same numbers as the strategy `ils` would with the same generator, so that the
    exact solver is never worse than that; hence the copy of the generator before the first search draws.

    Args:
        problem: The problem.
        context: Of the strategy; its generator is copied here.
    """

    def __init__(self, problem: Problem, context: Context) -> None:
        self._problem = problem
        self._random = copy.deepcopy(context.random)

    def first(self, context: Context) -> Suggestion:
        """Return what is found soon."""
        return first_placement(self._problem, context)

    def longer(self, context: Context) -> None:
        """Search on with the time of the context, which hears of what is found."""
        iterated_search(self._problem, replace(context, random=self._random))


def first_placement(problem: Problem, context: Context) -> Suggestion:
    """Return what `local-search` finds, improved by a short `ils` if the problem is not small."""
    first = local_optimum(problem, context)
    if first.placement is not None and problem.n_ops * problem.n_nodes > SMALL:
        return improve(problem, first.placement, context, SHORT_PATIENCE, FEW_WALKERS)
    return first
