"""An exact placement as a strategy's answer: by flows where these state all, else by the general solver."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Suggestion
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.exact.flows.by_flows import best_by_flows
from scheduler.exact.flows.flow_form import flow_form
from scheduler.exact.flows.searching import search
from scheduler.exact.solve import solve_exact
from scheduler.search.iterated import iterated_search
from scheduler.search.searched_start import searched_start

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.searching import Report
    from scheduler.model.problem import Problem

SOURCE = "flows"
"""Of news on the way."""
OF_START = 0.3
"""Of the time left goes at most to a start."""


def place_exactly(problem: Problem, context: Context, *, all_pairs: bool = False) -> Suggestion:
    """Return the best placement with its proof, or the best one found before the deadline with a bound.

    Args:
        problem: The problem.
        context: Deadline, children for the solver, and report.
        all_pairs: As of `flow_program`.
    """
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    form = flow_form(problem)
    if form is None:
        known, longer = searched_start(problem, context)
        return solve_exact(problem, known, context, longer=longer, work_limit=math.inf)
    incumbent = Incumbent(problem, context.report)

    def report(at: IntArray | None, bound: float) -> None:
        if at is not None:
            incumbent.offer(form.placement(at), SOURCE)
        incumbent.raise_bound(bound, SOURCE)

    start, left = _start(problem, form, context, report)
    found = best_by_flows(left, context, start, all_pairs=all_pairs, report=report)
    if found.at is not None:
        incumbent.offer(form.placement(found.at), SOURCE)
    taken = found.at is None or incumbent.objective <= form.value(found.at) + OBJECTIVE_STEP
    proved = found.proved and taken
    if incumbent.placement is None:
        if proved:
            return Suggestion(None, "prices and HiGHS proved that no placement exists", proved=True)
        first = greedy_placement(problem, context).placement
        if first is not None:
            incumbent.offer(first, "greedy")
    reason = (
        "proved by prices, and by HiGHS for what they leave" if proved else "no proof before the deadline"
    )
    return incumbent.suggestion(reason, proved=proved)


def _start(
    problem: Problem, form: FlowForm, context: Context, report: Report
) -> tuple[IntArray | None, FlowForm]:
    """Return a placement of the blocks that is found soon, if any, and the form without what is worse."""
    part = replace(context, deadline=context.deadline.share(OF_START))
    if form.one_graph:
        # nothing to take apart, and prices of a single graph do not see that its operators share nodes
        known = iterated_search(problem, part).placement
        start = None if known is None else form.at(known)
        report(start, -math.inf)
        return start, form
    if form.by_pair or form.limits:
        return None, form
    searched = search(form, part, report)
    return searched.at, searched.form
