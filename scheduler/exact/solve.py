"""The exact solver: from a heuristic's placement to a proof, through bounds, search and a solver."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError, Work
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Suggestion
from scheduler.exact.branch.by_search import FIRST, THEN, search
from scheduler.exact.by_chain import search_as_chain
from scheduler.exact.exchangeable.two_classes import search_two_classes
from scheduler.exact.form.class_form import ClassForm, class_form
from scheduler.exact.solver.by_parts import is_cut
from scheduler.exact.solver.by_solver import search_by_solver
from scheduler.exact.solver.program import link_variables
from scheduler.search.descent import descend

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

    Search = Callable[[Context], object]
    """Looks for better placements once the quick proofs have failed; `Context.report` receives each."""

OVER = "the deadline ended the search for a proof"
TOO_LARGE = "the problem is too large for a proof"
LONG_SHARE = 0.25
"""Of the time left goes at most to the longer search for a start where the proof is not quick."""
LARGEST_FORM = 30_000_000
"""Floats in one set of link tables of a problem that is not too large; some copies are needed."""
WORK_OF_A_LINK = 4_000.0
"""Work that a link variable of a program counts for where only a limit of work ends the proof."""
SOLVER_SHARE = 0.5
"""Of the time goes to the solver if the search needs more than the rest."""


def _no_search(_context: Context) -> None:
    """Search no longer."""


def solve_exact(
    problem: Problem,
    first: Suggestion,
    context: Context,
    *,
    longer: Search = _no_search,
    work_limit: float = math.inf,
) -> Suggestion:
    """Return a placement with a proof that none is better, or the best one found before the end.

    A proof by search means that F of no placement is lower by more than 1e-9, but for rounding; one by the
    solver means by more than 2e-7 max(1, |F|), which covers its tolerances. Among placements of equal F the
    one returned is at the foot of a descent in mean delay.

    Where the proof is not quick, a longer search for a start runs before it is sought on, and in place of it
    if the problem is too large for one (`LARGEST_FORM`).

    Args:
        problem: The problem.
        first: What is known to begin with; if it proves that there is no placement, it is the answer.
        context: Deadline, children for the solver, and report.
        longer: The longer search for a start; none if not given.
        work_limit: Partial placements times nodes to look at; ends the search after the same steps
            everywhere. The solver, whose work is not counted, is used only if this is infinite, or for a
            small program if the problem has rules that no other method knows.
    """
    incumbent = Incumbent(problem, context.report)
    if first.placement is None and first.proved:
        return first
    if first.placement is not None:
        incumbent.offer(first.placement, "start")
    pairs = len(problem.application.streams) * problem.n_nodes**2
    if pairs > LARGEST_FORM:
        longer(replace(context, report=incumbent.take))
        return incumbent.suggestion(TOO_LARGE)
    try:
        form = class_form(problem, context.deadline)
    except OutOfTimeError:
        return incumbent.suggestion(OVER)
    incumbent.rounding = form.rounding
    proved, reason = prove(form, incumbent, context, Work(context.deadline, work_limit), longer)
    if not proved:
        return incumbent.suggestion(reason)
    if incumbent.placement is None:
        return Suggestion(None, reason, proved=True)
    incumbent.offer(descend(problem, incumbent.placement, context.deadline).placement, "descent")
    return incumbent.suggestion(reason, proved=True)


def prove(
    form: ClassForm,
    incumbent: Incumbent,
    context: Context,
    work: Work,
    longer: Search = _no_search,
) -> tuple[bool, str]:
    """Prove the incumbent optimal for a form, or find better ones, by the method that suits the form.

    Under rules only the solver can prove: all other methods know allowed nodes and capacities alone, and
    nothing of charges of nodes in use. With a limit of work it is asked then only if its program is small.

    Args:
        form: The problem; its F may be negated anywhere but in `response_factor`.
        incumbent: Offered what is found; F of its placements must not be above that of the form.
        context: Children for the solver.
        work: When to stop.
        longer: The longer search for a start; none if not given.

    Returns:
        Whether there is a proof, of optimality or that no placement exists, and the reason for the end.
    """
    open_places = form.slots > 0
    still: Search = _no_search
    if form.side is not None or form.set_up is not None:
        still = longer
        if link_variables(form, open_places) * WORK_OF_A_LINK > work.most:
            _search_longer(longer, incumbent, context, work.deadline)
            what = "its constraints leave" if form.side is not None else "a price per node in use leaves"
            return False, f"{what} the proof to a solver, whose work has no limit"
    elif incumbent.placement is not None:
        open_places, reason = _search(form, incumbent, context, work, longer)
        if not open_places.any() or work.most < math.inf:
            return not open_places.any(), reason
    if work.deadline.expired():
        return False, OVER
    beside = partial(_search_longer, still, incumbent, context)
    if not search_by_solver(form, open_places, incumbent, context, work.deadline, longer=beside):
        return False, OVER if work.deadline.expired() else _unproved(form)
    if incumbent.placement is None:
        return True, "HiGHS proved that no placement exists"
    in_parts = "proved in parts, by linear relaxations, columns and HiGHS"
    return True, in_parts if is_cut(form) else "proved by HiGHS"


def _search_longer(longer: Search, incumbent: Incumbent, context: Context, deadline: Deadline) -> None:
    """Offer the incumbent what a longer search for a start finds in its share of the time."""
    longer(replace(context, deadline=deadline.share(LONG_SHARE), report=incumbent.take))


def _unproved(form: ClassForm) -> str:
    reason = "the solver ended without a proof"
    if form.side is None or not form.side.unstated:
        return reason
    return f"{reason}; it knows nothing of the constraints {', '.join(form.side.unstated)}"


def _search(
    form: ClassForm, incumbent: Incumbent, context: Context, work: Work, longer: Search
) -> tuple[BoolArray, str]:
    """Return what is open after the searches that need no solver, and the reason for their end."""
    nothing = np.zeros(form.slots.shape, dtype=np.bool_)
    if search_as_chain(form, incumbent, work):
        return nothing, "proved by dynamic programming along the chain"
    if search_two_classes(form, incumbent, work):
        return nothing, "proved by branch and bound over exchangeable operators"
    share = SOLVER_SHARE if work.most == math.inf else 1.0
    part = Work(work.deadline.share(share), work.most - work.done)
    open_places = search(form, incumbent, part, FIRST)
    if open_places.any():
        _search_longer(longer, incumbent, context, work.deadline)
        open_places = search(form, incumbent, part, THEN, open_places)
    if not open_places.any():
        return open_places, "proved by branch and bound"
    return open_places, OVER if work.deadline.expired() else "the limit of work ended the search for a proof"
