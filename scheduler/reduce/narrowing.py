"""Solving on fewer nodes: what the model-based heuristics share (paper 000, section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.strategy import Context, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.solve import solve_exact
from scheduler.reduce.subproblem import lifting, restrict
from scheduler.search.iterated import iterated_search
from scheduler.search.local_optimum import local_optimum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

PROOF_SIZE = 30
"""Default of `proof_size`: the exact solver mostly takes a tenth of a second for so many single moves."""
SHORT_PATIENCE = 1
"""Of the iterated local search that finds a start."""


def solve_on(
    problem: Problem, nodes: IntArray, proof_size: int, context: Context, *, quick: bool = False
) -> Suggestion:
    """Return the best placement on some nodes by the exact solver, with the node indices of the whole.

    Bound and proof hold for placements on these nodes. The solver starts from what a short iterated local
    search finds. Without a deadline nothing would end a proof that takes hours; if the part is large, that
    start is the answer.

    Args:
        problem: The whole problem.
        nodes: (k,) ascending node indices.
        proof_size: Without a deadline the exact solver is used up to so many single moves, operators x nodes.
        context: Its `report` receives placements, and of bounds if these are all nodes.
        quick: Whether local search is enough for a start.
    """
    part = problem
    if nodes.size < problem.n_nodes:
        part, context = restrict(problem, nodes), lifting(context, nodes)
    found = local_optimum(part, context) if quick else iterated_search(part, context, SHORT_PATIENCE)
    if part.n_ops * part.n_nodes <= context.deadline.otherwise(proof_size):
        found = solve_exact(part, found, context)
    return found if found.placement is None else replace(found, placement=nodes[found.placement])


def solve_narrowed(
    problem: Problem,
    sets: Callable[[Suggestion], Iterable[tuple[IntArray, Context]]],
    proof_size: int,
    context: Context,
) -> Suggestion:
    """Solve on one set of nodes after the other until one has a placement, or time is over.

    The greedy placement is returned if it is better, or if there is no time for more.

    Args:
        problem: The whole problem.
        sets: Yields node indices, given what greedy suggests; at least one set, each with the context to
            solve in.
        proof_size: As of `solve_on`.
        context: As for the strategy.
    """
    first = greedy_placement(problem, context)
    if context.deadline.expired() or (first.placement is None and first.proved):
        return first
    return _concluded(problem, first, *solve_on_first(problem, sets(first), proof_size, context.deadline))


def solve_on_first(
    problem: Problem,
    sets: Iterable[tuple[IntArray, Context]],
    proof_size: int,
    deadline: Deadline,
    *,
    quick: bool = False,
) -> tuple[IntArray, Suggestion]:
    """Solve on one set of nodes after the other until one has a placement, or time is over.

    Args:
        problem: The whole problem.
        sets: Node indices, at least one set, each with the context to solve in.
        proof_size: As of `solve_on`, like `quick`.
        deadline: When to stop.
        quick: Whether local search is enough for a start.

    Returns:
        The set that was tried last, and the answer on it.
    """
    tried: tuple[IntArray, Suggestion] | None = None
    for nodes, context in sets:
        found = solve_on(problem, nodes, proof_size, context, quick=quick)
        tried = nodes, found
        if found.placement is not None or deadline.expired():
            break
    if tried is None:
        raise AssertionError("there is at least one set")
    return tried


def limit_time(context: Context, share: float) -> Context:
    """Return a context with a share, 0 to 1, of the time that is left."""
    return replace(context, deadline=context.deadline.share(share))


def _concluded(problem: Problem, first: Suggestion, nodes: IntArray, found: Suggestion) -> Suggestion:
    """Return what was found on some nodes, or the greedy suggestion if it is better or the only one."""
    whole = nodes.size == problem.n_nodes
    reason = found.reason if whole else f"among {nodes.size} of {problem.n_nodes} nodes: {found.reason}"
    if found.placement is None:
        if first.placement is not None:
            return replace(first, reason=f"the greedy placement, as no other was found: {reason}")
        return Suggestion(None, reason, proved=whole and found.proved)
    rank = evaluate(problem, found.placement).rank
    if first.placement is not None and evaluate(problem, first.placement).rank < rank:
        return replace(first, reason=f"the greedy placement is better than the one found: {reason}")
    return Suggestion(found.placement, reason, found.bound if whole else None, proved=whole and found.proved)
