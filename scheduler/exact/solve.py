"""The exact solver: from a heuristic's placement to a proof, through bounds, search and a solver."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError, Work
from scheduler.contract.incumbent import Incumbent
from scheduler.exact.branch.by_search import FIRST, THEN, search
from scheduler.exact.by_chain import search_as_chain
from scheduler.exact.exchangeable.two_classes import search_two_classes
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import search_by_solver
from scheduler.exact.solver.program import link_variables
from scheduler.search.descent import descend
from scheduler.strategies.ils import IlsParameters, ils, improve
from scheduler.strategies.local_search import LocalSearchParameters, local_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.contract.strategy import Context, Progress, Suggestion
    from scheduler.exact.form.class_form import ClassForm
    from scheduler.model.problem import Problem

OVER = "the deadline ended the search for a proof"
TOO_LARGE = "the problem is too large for a proof"
SMALL = 200
"""Operators times nodes up to which the start needs no more than local search."""
SHORT = IlsParameters(patience=1, walkers=12)
LONG_SHARE = 0.25
"""Of the time left goes at most to `ils` where the proof is not quick."""
LARGEST_FORM = 30_000_000
"""Floats in one set of link tables of a problem that is not too large; some copies are needed."""
WORK_OF_A_LINK = 4_000.0
"""Work that a link variable of a program counts for where only a limit of work ends the proof."""
SOLVER_SHARE = 0.5
"""Of the time goes to the solver if the search needs more than the rest."""


@dataclass(frozen=True, eq=False)
class Exact:
    """What the exact solver knows at its end.

    Attributes:
        placement: (n_ops,) the best placement found; None if there is none or none was found.
        bound: F of no placement is below this; None if nothing is known.
        proved: Whether the placement is proved optimal or, without a placement, that none exists.
        reason: Why it ended, in one sentence.
    """

    placement: IntArray | None
    bound: float | None
    proved: bool
    reason: str


def solve_exact(
    problem: Problem,
    start: IntArray | None,
    context: Context,
    *,
    time_limit_s: float | None = None,
    work_limit: float = math.inf,
) -> Exact:
    """Return a placement with a proof that none is better, or the best one found before the end.

    A proof by search means that F of no placement is lower by more than 1e-9, but for rounding; one by the
    solver means by more than 2e-7 max(1, |F|), which covers its tolerances. Among placements of equal F the
    one returned is at the foot of a descent in mean delay.

    Without a given start and without a deadline the result is never worse than that of `ils` with its
    defaults and the same random generator: where the proof is not quick, `ils` runs before it is sought on,
    and in place of it if the problem is too large for one (`LARGEST_FORM`).

    Args:
        problem: The problem.
        start: (n_ops,) a feasible placement to begin with; None means that of `local-search`, improved by a
            short `ils` if the problem is not small.
        context: Deadline, children for the solver, and who hears of progress.
        time_limit_s: Seconds after which to stop, if that comes before the deadline; without a deadline
            there is no clock and it is ignored.
        work_limit: Partial placements times nodes to look at; ends the search after the same steps
            everywhere. The solver, whose work is not counted, is used only if this is infinite, or for a
            small program if the problem has rules that no other method knows.
    """
    deadline = context.deadline if time_limit_s is None else context.deadline.within(time_limit_s)
    incumbent = Incumbent(problem, context.report)
    lengthen: Callable[[float], None] = nothing_more
    if start is None:
        lengthen = _long_start(problem, incumbent, replace(context, deadline=deadline))
        first = first_placement(problem, replace(context, deadline=deadline))
        if first.placement is None and first.proved:
            return Exact(None, None, proved=True, reason=first.reason)
        start = first.placement
    if start is not None:
        incumbent.offer(start, "start")
    pairs = len(problem.application.streams) * problem.n_nodes**2
    if pairs > LARGEST_FORM:
        lengthen(1.0)
        return _stopped(incumbent, TOO_LARGE)
    try:
        form = class_form(problem, deadline)
    except OutOfTimeError:
        return _stopped(incumbent, OVER)
    incumbent.rounding = form.rounding
    proved, reason = prove(form, incumbent, context, Work(deadline, work_limit), lengthen)
    if not proved:
        return _stopped(incumbent, reason)
    if incumbent.placement is None:
        return Exact(None, None, proved=True, reason=reason)
    incumbent.offer(descend(problem, incumbent.placement, deadline).placement, "descent")
    return Exact(incumbent.placement, _bound(incumbent), proved=True, reason=reason)


def first_placement(problem: Problem, context: Context) -> Suggestion:
    """Return what `local-search` finds, improved by a short `ils` if the problem is not small."""
    first = local_search(problem, LocalSearchParameters(), context)
    if first.placement is not None and problem.n_ops * problem.n_nodes > SMALL:
        return improve(problem, first.placement, SHORT, context)
    return first


def nothing_more(_share: float) -> None:
    """Leave the start as it is."""


def _long_start(problem: Problem, incumbent: Incumbent, context: Context) -> Callable[[float], None]:
    """Return what offers the placements of `ils`, with chance as it is now."""
    random = copy.deepcopy(context.random)

    def hear(progress: Progress, /) -> None:
        if progress.placement is not None:
            incumbent.offer(progress.placement, progress.source)

    def lengthen(share: float) -> None:
        limit = context.deadline.within(share * context.deadline.remaining())
        ils(problem, IlsParameters(), replace(context, random=random, deadline=limit, report=hear))

    return lengthen


def prove(
    form: ClassForm,
    incumbent: Incumbent,
    context: Context,
    work: Work,
    lengthen: Callable[[float], None] = nothing_more,
) -> tuple[bool, str]:
    """Prove the incumbent optimal for a form, or find better ones, by the method that suits the form.

    Under rules only the solver can prove: all other methods know allowed nodes and capacities alone. With a
    limit of work it is asked then only if its program is small.

    Args:
        form: The problem; its F may be negated anywhere but in `response_factor`.
        incumbent: Offered what is found; F of its placements must not be above that of the form.
        context: Children for the solver.
        work: When to stop.
        lengthen: Offers the incumbent what a longer heuristic search finds in a share of the time left;
            called once the quick proofs have failed.

    Returns:
        Whether there is a proof, of optimality or that no placement exists, and the reason for the end.
    """
    open_places = form.slots > 0
    if form.side is not None:
        lengthen(LONG_SHARE)
        if link_variables(form, open_places) * WORK_OF_A_LINK > work.most:
            return False, "its constraints leave the proof to a solver, whose work has no limit"
    elif incumbent.placement is not None:
        open_places, reason = _search(form, incumbent, work, lengthen)
        if not open_places.any() or work.most < math.inf:
            return not open_places.any(), reason
    if work.deadline.expired():
        return False, OVER
    if not search_by_solver(form, open_places, incumbent, context, work.deadline):
        return False, OVER if work.deadline.expired() else _unproved(form)
    if incumbent.placement is None:
        return True, "HiGHS proved that no placement exists"
    return True, "proved by HiGHS"


def _unproved(form: ClassForm) -> str:
    reason = "the solver ended without a proof"
    if form.side is None or not form.side.unstated:
        return reason
    return f"{reason}; it knows nothing of the constraints {', '.join(form.side.unstated)}"


def _search(
    form: ClassForm, incumbent: Incumbent, work: Work, lengthen: Callable[[float], None]
) -> tuple[BoolArray, str]:
    """Return what is open after the searches that need no solver, and the reason for their end."""
    nothing = np.zeros(form.slots.shape, dtype=np.bool_)
    if search_as_chain(form, incumbent, work):
        return nothing, "proved by dynamic programming along the chain"
    if search_two_classes(form, incumbent, work):
        return nothing, "proved by branch and bound over exchangeable operators"
    seconds = work.deadline.remaining() * (SOLVER_SHARE if work.most == math.inf else 1.0)
    part = Work(work.deadline.within(seconds), work.most - work.done)
    open_places = search(form, incumbent, part, FIRST)
    if open_places.any():
        lengthen(LONG_SHARE)
        open_places = search(form, incumbent, part, THEN, open_places)
    if not open_places.any():
        return open_places, "proved by branch and bound"
    return open_places, OVER if work.deadline.expired() else "the limit of work ended the search for a proof"


def _bound(incumbent: Incumbent) -> float | None:
    return None if incumbent.bound == -math.inf else incumbent.bound


def _stopped(incumbent: Incumbent, reason: str) -> Exact:
    return Exact(incumbent.placement, _bound(incumbent), proved=False, reason=reason)
