"""The longest response time that a placement can have: a maximum over paths, each of them a sum."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import Work
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Progress, Suggestion
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.exact.extremes.paths_by_length import paths_by_length
from scheduler.exact.form.class_form import ClassForm, class_form
from scheduler.exact.solve import LARGEST_FORM, OVER, TOO_LARGE, prove
from scheduler.model.objective import Scale
from scheduler.model.problem import Application, Objective, Operator, Problem

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray

SHARE = 0.5
"""Of the time that is left goes to one path at most."""


class TurnedProblem(Problem):
    """A problem whose F is 1 minus F of the same problem, whose objective is one metric alone.

    Everything that takes F from `Problem.scale` (evaluation, linear form, searches) then maximises the
    metric. All factors are negative: what is built on R as a maximum that pushes F up does not apply
    (see `solve_longest_response`); sums over operators and streams may have any sign.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        turned = {
            # factor (x - best) becomes 1 - factor (x - best)
            metric: (-factor, best + 1.0 / factor) if factor else (factor, best)
            for metric, (factor, best) in self.scale.terms.items()
        }
        object.__setattr__(self, "scale", Scale(turned))


def solve_longest_response(problem: TurnedProblem, start: IntArray | None, context: Context) -> Suggestion:
    """Return a placement with a proof that none has a longer response time, or the best one found.

    The greatest R over all placements is the greatest length of a path over all paths and placements, or of
    several graphs the greatest sum of one path each, over their number. Paths
    come in descending order of what they take at most with capacities left out, one for all that
    exchangeable operators make alike; the length of one path is a sum, which is maximised by the methods for
    sums. Once a path cannot be longer than what was found, neither can those that follow.

    Args:
        problem: Its objective is response time alone.
        start: (n_ops,) a feasible placement to begin with, or None.
        context: Deadline, children for the solver, and report.

    Returns:
        As `solve_exact`, in terms of the turned problem's F.
    """
    incumbent = Incumbent(problem, context.report)
    if start is not None:
        incumbent.offer(start, "start")
    if len(problem.application.streams) * problem.n_nodes**2 > LARGEST_FORM:
        return Suggestion(incumbent.placement, TOO_LARGE)
    straight = Problem(
        problem.application,
        problem.network,
        problem.objective,
        problem.current,
        problem.constraints,
        problem.gone,
        problem.left_price,
    )
    factor, best_ms = problem.scale.terms["response_time"]
    count = problem.application.graphs.count
    bound, proved, reason = math.inf, True, "every other path is proved shorter"
    for path, longest_ms in paths_by_length(class_form(straight)):
        least = factor * (longest_ms / count - best_ms)
        if least >= incumbent.objective - OBJECTIVE_STEP:
            bound = min(bound, least)
            break
        if context.deadline.expired():
            bound, proved, reason = min(bound, least), False, OVER
            break
        longest = _longest(problem, _path_form(straight, path, problem), incumbent.placement, context)
        if longest.placement is not None:
            incumbent.offer(longest.placement, "longest path")
        elif longest.proved:
            return longest
        bound = min(bound, least if longest.bound is None else max(longest.bound, least))
        if not longest.proved:
            proved, reason = False, longest.reason
    return Suggestion(incumbent.placement, reason, min(bound, incumbent.objective), proved)


def _longest(problem: TurnedProblem, form: ClassForm, start: IntArray | None, context: Context) -> Suggestion:
    """Return what is known about the greatest length of one path, in half of the time that is left."""

    def report(progress: Progress) -> None:
        context.report(replace(progress, bound=None))  # what is proved of one path holds for it alone

    incumbent = Incumbent(problem, report)
    incumbent.rounding = form.rounding
    if start is not None:
        incumbent.offer(start, "start")
    share = context.deadline.share(SHARE)
    proved, reason = prove(form, incumbent, context, Work(share, math.inf))
    bound = None if incumbent.bound == -math.inf else incumbent.bound
    return Suggestion(incumbent.placement, reason, bound, proved)


def _path_form(straight: Problem, path: tuple[int, ...], turned: TurnedProblem) -> ClassForm:
    """Return the turned F of one path's length as a sum over its operators and hops."""
    application = straight.application
    on_path = set(path)
    operators = tuple(
        operator if i in on_path else replace(operator, execution_time_ms=0.0)
        for i, operator in enumerate(_where_allowed(straight))
    )
    hops = set(pairwise(path))
    counts = [
        stream.critical and pair in hops
        for stream, pair in zip(application.streams, application.edges(), strict=True)
    ]
    # rules may know streams off the path
    streams = tuple(
        replace(stream, critical=on)
        for stream, on in zip(application.streams, counts, strict=True)
        if on or straight.rules
    )
    part = Problem(
        Application(operators, streams),
        straight.network,
        Objective({"response_time": 1.0}, {"response_time": straight.ranges["response_time"]}),
        constraints=straight.constraints,
    )
    form = class_form(part)
    factor, best_ms = turned.scale.terms["response_time"]
    by_path = factor / turned.application.graphs.count
    return replace(
        form,
        constant=-factor * best_ms,
        response_factor=0.0,
        unary=by_path * form.execution_ms,
        edges=tuple(
            replace(edge, cost=by_path * form.delay_ms if edge.critical else None, critical=False)
            for edge in form.edges
        ),
    )


def _where_allowed(problem: Problem) -> tuple[Operator, ...]:
    """Return the operators with the nodes that limits on durations leave to them, and without these limits.

    What closes nodes for them would change with times and streams that are left out.
    """
    operators = problem.application.operators
    if problem.too_slow is None:
        return operators
    names = np.array([node.name for node in problem.network.nodes])
    return tuple(
        replace(operator, allowed=tuple(names[nodes].tolist()), duration_max_ms=0.0)
        for operator, nodes in zip(operators, problem.allowed, strict=True)
    )
