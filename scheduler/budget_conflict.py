"""Which budget no placement can keep, and what every placement takes; for people, after a search in vain.

A budget alone may be below the least that operators can take anywhere, which is found at once. Where it
contradicts capacities, or another budget, the least has to be found under these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.evaluation.evaluate import evaluate
from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.reduce.reduction import is_large
from scheduler.strategies.odr import OdrParameters, odr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.contract.strategy import Context
    from scheduler.model.constraints.constraint import Constraint
    from scheduler.model.problem import Problem


def budget_conflict(problem: Problem, context: Context) -> str | None:
    """Return a budget, and the least that is possible within all other constraints; None if none is found.

    Each budget is looked at beside the others, then without them.

    Args:
        problem: A problem of which no placement was found.
        context: Deadline, children for the solver, and what takes progress.
    """
    budgets = [each for each in problem.constraints if isinstance(each, MetricBudget)]
    if problem.infeasibility is not None or is_large(problem):
        return None
    others = [each for each in problem.constraints if not isinstance(each, MetricBudget)]
    for budget in budgets:
        beside = [each for each in problem.constraints if each is not budget]
        if sentence := _conflict(problem, budget, beside, context):
            return sentence
    alone = (_conflict(problem, budget, others, context) for budget in budgets if len(budgets) > 1)
    return next((sentence for sentence in alone if sentence), None)


def _conflict(
    problem: Problem, budget: MetricBudget, others: Sequence[Constraint], context: Context
) -> str | None:
    objective = replace(problem.objective, weights={budget.metric: 1.0}, ranges={})
    alone = replace(problem, objective=objective, constraints=tuple(others))
    found = odr(alone, OdrParameters(), context)
    if found.placement is None:
        return None
    least = evaluate(alone, found.placement).values[budget.metric]
    if least <= budget.most + TOLERANCE * max(1.0, budget.most):
        return None
    stated = {
        f"the budget of {each.metric}" if isinstance(each, MetricBudget) else "the other constraints"
        for each in others
    }
    *first, last = ["allowed nodes", "capacities", *sorted(stated)]
    within = f"{', '.join(first)} and {last}"
    takes = f"every placement within {within} takes {least:g} or more"
    if not found.proved:
        takes = f"the cheapest placement found within {within} takes {least:g}"
    return f"the budget of {budget.metric} has {budget.most:g} units, and {takes}"
