"""The linear relaxation: operators may be split over nodes (paper 000, section 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import SCALE, ask
from scheduler.exact.solver.program import placement_program

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem


def relaxed_placement(problem: Problem, context: Context) -> FloatArray:
    """Return the shares x_(i,u) of each operator on each node in an optimum of the linear relaxation.

    Operators that are exchangeable get equal shares. If the relaxation has no solution, or the deadline comes
    before it is found, every operator is spread evenly over the nodes it is allowed on.

    Args:
        problem: The problem.
        context: Deadline, and children for the solver.

    Returns:
        (n_ops, n_nodes) in [0, 1]; rows sum up to 1, to 0 for an operator allowed nowhere.
    """
    form = class_form(problem)
    program = placement_program(form, form.slots > 0, SCALE)
    program.model.variables.integers[:] = [False] * len(program.model.variables.ids)
    answer = ask(program, context, context.deadline)
    if answer is None or answer.values is None:
        spread = problem.allowed.astype(np.float64)
        evenly: FloatArray = spread / np.maximum(spread.sum(axis=1, keepdims=True), 1.0)
        return evenly
    shares = np.zeros((problem.n_ops, problem.n_nodes))
    counts = np.maximum(program.counts(answer.values, problem.n_nodes), 0.0)
    for members, row in zip(form.classes, counts, strict=True):
        shares[members] = row / row.sum()
    return shares
