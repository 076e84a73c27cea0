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
    asked = [(each, [other for other in problem.constraints if other is not each]) for each in budgets]
    asked += [(each, others) for each in budgets if len(budgets) > 1]
    for k, (budget, beside) in enumerate(asked):
        part = replace(context, deadline=context.deadline.share(1.0 / (len(asked) - k)))
        if sentence := _conflict(problem, budget, beside, part):
            return sentence
    return None


def _conflict(
    problem: Problem, budget: MetricBudget, others: Sequence[Constraint], context: Context
) -> str | None:
    objective = replace(problem.objective, weights={budget.metric: 1.0}, ranges={})
    alone = replace(problem, objective=objective, constraints=tuple(others))
    found = odr(alone, OdrParameters(), context)
    if found.placement is None or not found.proved:
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
    return (
        f"the budget of {budget.metric} has {budget.most:.9g} units, "
        f"and every placement within {within} takes {least:.9g} or more"
    )
