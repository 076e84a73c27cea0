"""Where a proof starts from: local search at once, iterated local search if the proof is not quick."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.search.iterated import improve, iterated_search
from scheduler.search.local_optimum import local_optimum

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.contract.strategy import Context, Suggestion
    from scheduler.model.problem import Problem

SMALL = 200
"""Operators times nodes up to which the start needs no more than local search."""
SHORT_PATIENCE, FEW_WALKERS = 1, 12
"""Of the short iterated search on problems that are not small."""


def searched_start(problem: Problem, context: Context) -> tuple[Suggestion, Callable[[Context], object]]:
    """Return what is found soon, and a longer search, which uses the time of the context that it is given.

    The longer search draws the same numbers as the strategy `ils` would with the same generator, so that the
    exact solver is never worse than that; hence the copy of the generator before the first search draws.
    """
    random = copy.deepcopy(context.random)

    def longer(context: Context) -> Suggestion:
        return iterated_search(problem, replace(context, random=random))

    return first_placement(problem, context), longer


def first_placement(problem: Problem, context: Context) -> Suggestion:
    """Return what `local-search` finds, improved by a short `ils` if the problem is not small."""
    first = local_optimum(problem, context)
    if first.placement is not None and problem.n_ops * problem.n_nodes > SMALL:
        return improve(problem, first.placement, context, SHORT_PATIENCE, FEW_WALKERS)
    return first
