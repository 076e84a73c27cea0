"""Search by HiGHS: in one program, or in parts where these are smaller by far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.base.work import OutOfTimeError
from scheduler.exact.solver.ask import LONGEST_WAIT_S, SOLVER_TOLERANCE, SOURCE, Asked
from scheduler.exact.solver.by_parts import is_cut, search_by_parts
from scheduler.exact.solver.program import SCALE, link_variables, placement_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.incumbent import Incumbent
    from scheduler.contract.strategy import Context
    from scheduler.exact.form.class_form import ClassForm

LARGEST_PROGRAM = 1_000_000
"""Link variables of a program that a solver is asked at all."""


def _nothing(_deadline: Deadline) -> None:
    """Search no longer."""


def search_by_solver(
    form: ClassForm,
    open_places: BoolArray,
    incumbent: Incumbent,
    context: Context,
    deadline: Deadline,
    *,
    longer: Callable[[Deadline], None] = _nothing,
) -> bool:
    """Let HiGHS solve what is open; return whether it is proved that nothing better, or nothing, exists.

    Its bound is lowered by what its tolerances may hide; its placement counts only by the core's own check
    and value.

    Args:
        form: The problem.
        open_places: (n_classes, n_nodes) places that a better placement may use.
        incumbent: Offered what is found; may be without a placement.
        context: Children to run the solver.
        deadline: When to stop.
        longer: A search that offers the incumbent what it finds; it runs before the solver, or beside the
            child that cuts the problem into parts, until that has solved it.
    """
    if link_variables(form, open_places) > LARGEST_PROGRAM:
        longer(deadline)
        return False
    least = None
    if incumbent.placement is None:
        longer(deadline)
        longer = _nothing
    if incumbent.placement is not None and is_cut(form):
        least = search_by_parts(form, open_places, incumbent, context, deadline, meanwhile=longer)
    else:
        longer(deadline)
    if least is None:
        least = _search_as_one(form, open_places, incumbent, context, deadline)
    if incumbent.placement is None:
        return least == math.inf
    slack = SOLVER_TOLERANCE * max(1.0, abs(incumbent.objective))
    # outside of the open places nothing is better than the incumbent
    incumbent.raise_bound(min(least, incumbent.objective) - slack, SOURCE)
    return incumbent.bound >= incumbent.objective - 2 * slack


def _search_as_one(
    form: ClassForm, open_places: BoolArray, incumbent: Incumbent, context: Context, deadline: Deadline
) -> float:
    """Offer what HiGHS finds; return what F is at least on the open places: infinite if nothing is there."""
    try:
        program = placement_program(form, open_places, SCALE, deadline)
    except OutOfTimeError:
        return -math.inf
    asked = Asked(program, context, deadline)
    while not asked.wait(LONGEST_WAIT_S):
        pass
    return asked.offer(form, incumbent)
