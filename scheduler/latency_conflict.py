"""Which limit of latency no placement can keep, and the least that is possible; for people, after a search in
vain.

A limit below what the network permits is found at once. Where it contradicts capacities or bandwidths, the
least has to be found under these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.exact.flows.by_flows import least_latency_ms
from scheduler.exact.flows.flow_form import flow_form
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem


def latency_conflict(problem: Problem, context: Context) -> str | None:
    """Return a limit, and the least that is possible within all other constraints; None if none is found.

    Args:
        problem: A problem of which no placement was found.
        context: Deadline, and children for the solver.
    """
    form = None if problem.infeasibility is not None else flow_form(problem)
    if form is None:
        return None
    for limit in form.limits:
        least = least_latency_ms(form, limit, context)
        if least is not None and least > limit.most_ms + TOLERANCE * max(1.0, limit.most_ms):
            name = problem.application.operators[limit.sink].name
            reach = f"results reach {name} after {least:g} ms at the least"
            return f"{reach} within all other constraints, and its limit is {limit.most_ms:g}"
    return None
