"""Strategies on networks too large for them: on candidate nodes, chosen anew around what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.construct.greedy_placement import greedy_placement
from scheduler.construct.near_nodes import candidates
from scheduler.contract.incumbent import WORST, Incumbent
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.reduce.subproblem import lifting, restrict
from scheduler.search.level_descent import descend

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

    Solve = Callable[[IntArray, Deadline], Suggestion]
    """Runs the strategy on some nodes."""

LARGEST_NETWORK = 1024
"""Nodes up to which a strategy gets the whole network."""
LARGEST_TABLE = 32_000_000
"""(operators + streams) x nodes up to which it does, 256 MB per table of floats."""
CANDIDATES = 256
"""Candidate nodes, unless the operators need more: then twice as many as the greedy placement uses."""
CHOICES = 4
"""Times that candidates are chosen at most."""


def is_large(problem: Problem) -> bool:
    """Return whether strategies that do not scale by themselves get candidate nodes only."""
    return problem.n_nodes > LARGEST_NETWORK or _rows(problem) * problem.n_nodes > LARGEST_TABLE


def solve_on_candidates(
    problem: Problem, entry: StrategyEntry[Any], parameters: object, context: Context
) -> Suggestion:
    """Run a strategy on few nodes, then on others around those it used, as long as that improves.

    The first candidates surround the greedy placement. What is proved or bounded holds for the candidates
    only, so neither is passed on. If even the candidates make too large a problem, or the strategy
    finds nothing on them, the greedy placement is improved operator by operator instead
    (`scheduler.search.level_descent`), and the reason says so.

    Every choice of candidates but the last gets half of the time that is left. With a deadline, one that
    improves nothing is followed by one of twice as many candidates; without, it is the last.

    Args:
        problem: The whole problem.
        entry: The strategy.
        parameters: Its parameters.
        context: As for the strategy.
    """
    incumbent = Incumbent(problem, context.report)
    context = replace(context, report=incumbent.take)
    first = greedy_placement(problem, context)
    if first.placement is None:
        return first
    used, current = np.unique(first.placement), problem.current
    if entry.starts_at_current(parameters) and current is not None and not check(problem, current):
        used = np.union1d(used, current)
    if len(used) > _most_candidates(problem):
        return _descended(problem, first.placement, context, f"the problem is too large for {entry.name}")

    def solve(nodes: IntArray, deadline: Deadline) -> Suggestion:
        within = lifting(replace(context, deadline=deadline), nodes)
        return entry.solve(restrict(problem, nodes), parameters, within)

    found = _best_of_choices(problem, solve, context.deadline, used)
    if found.placement is None:
        return _descended(problem, first.placement, context, f"{entry.name} found nothing: {found.reason}")
    rank = evaluate(problem, found.placement).rank
    if entry.never_worse_than_greedy and evaluate(problem, first.placement).rank < rank:
        return replace(found, placement=first.placement)
    return found


def _rows(problem: Problem) -> int:
    return problem.n_ops + len(problem.application.streams)


def _most_candidates(problem: Problem) -> int:
    return min(LARGEST_TABLE // _rows(problem), LARGEST_NETWORK, problem.n_nodes)


def _best_of_choices(problem: Problem, solve: Solve, deadline: Deadline, used: IntArray) -> Suggestion:
    most = _most_candidates(problem)
    count = min(most, max(CANDIDATES, 2 * len(used)))
    best: Suggestion | None = None
    best_rank = WORST
    tried: set[bytes] = set()
    for left in reversed(range(CHOICES)):
        nodes = candidates(problem, used, max(count, len(used)))
        if nodes.tobytes() in tried or (best is not None and deadline.expired()):
            break
        tried.add(nodes.tobytes())
        found = solve(nodes, deadline.share(0.5 if left else 1.0))
        if found.placement is None:
            return best or found
        placement = nodes[found.placement]
        rank = evaluate(problem, placement).rank
        if rank >= best_rank:
            if deadline.unlimited:
                break
            count = min(2 * count, most)
            continue
        reason = f"{found.reason} (on {len(nodes)} candidates of {problem.n_nodes} nodes)"
        best, best_rank, used = Suggestion(placement, reason), rank, np.unique(placement)
    if best is None:
        raise AssertionError("the first choice tries something")
    return best


def _descended(problem: Problem, placement: IntArray, context: Context, why: str) -> Suggestion:
    improved = descend(problem, placement, context.deadline)
    return Suggestion(improved, f"{why}; the greedy placement was improved operator by operator")
