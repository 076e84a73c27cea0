"""A problem with additional constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.model.constraints.co_location import CoLocation
from scheduler.reduce.subproblem import with_ranges

if TYPE_CHECKING:
    from scheduler.contract.additions import Additions
    from scheduler.model.application import Operator
    from scheduler.model.problem import Problem


def constrained(problem: Problem, added: Additions) -> Problem:
    """Return the problem within additions; F has the same value in both, as the ranges are kept."""

    def narrowed(operator: Operator) -> Operator:
        if operator.name in added.pinned:
            return replace(operator, allowed=(added.pinned[operator.name],))
        nodes = added.allowed.get(operator.name)
        return operator if nodes is None else replace(operator, allowed=nodes)

    operators = tuple(narrowed(each) for each in problem.application.operators)
    return replace(
        problem,
        application=replace(problem.application, operators=operators),
        objective=with_ranges(problem.objective, problem.ranges),
        constraints=(*problem.constraints, *(CoLocation(pair) for pair in added.colocated)),
    )
