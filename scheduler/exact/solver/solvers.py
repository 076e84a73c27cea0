"""HiGHS, through OR-tools' MathOpt, as work that a child process can do and be killed at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from ortools.math_opt.python import mathopt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.math_opt.model_pb2 import ModelProto

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline

Status = Literal["optimal", "infeasible", "stopped"]

_STATUS: dict[mathopt.TerminationReason, Status] = {
    mathopt.TerminationReason.OPTIMAL: "optimal",
    mathopt.TerminationReason.INFEASIBLE: "infeasible",
}
_HEURISTICS = (
    "mip_heuristic_run_rens",
    "mip_heuristic_run_rins",
    "mip_heuristic_run_root_reduced_cost",
    "mip_heuristic_run_zi_round",
    "mip_heuristic_run_shifting",
    "mip_heuristic_run_feasibility_jump",
)
"""Options of HiGHS that look for solutions, whatever effort they may take."""


@dataclass(frozen=True, eq=False)
class SolverRequest:
    """What the solver is asked.

    Attributes:
        model: The program; if no variable is whole, it is a linear program.
        wanted: Variables whose values are reported.
        prove_only: Whether its time goes to the proof: good solutions are known already.
        gap: A solution is good enough whose objective is at most so much above the bound (>= 0).
        presolve: Whether it is simplified first; of a small one that takes longer than it saves, and HiGHS
            sometimes writes to standard output when it takes a solution back.
        nodes: Of the search tree, after which it stops, the same on every machine; None: no limit.
    """

    model: ModelProto
    wanted: IntArray
    prove_only: bool = False
    gap: float = 0.0
    presolve: bool = True
    nodes: int | None = None


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """What the solver says; it is not believed without a check.

    Attributes:
        status: ``optimal``, ``infeasible``, or ``stopped`` before either.
        values: Of the wanted variables in its best solution, or None.
        bound: Its lower limit of the program's objective.
    """

    status: Status
    values: FloatArray | None
    bound: float


def run_highs(order: SolverRequest, deadline: Deadline, say: Callable[[SolverAnswer], None]) -> None:
    """Solve a program on one thread and send the answer, one message at the end."""
    model = mathopt.Model.from_model_proto(order.model)
    wanted = [model.get_variable(column) for column in order.wanted.tolist()]
    parameters = mathopt.SolveParameters(relative_gap_tolerance=0.0, absolute_gap_tolerance=order.gap)
    parameters.highs.string_options["parallel"] = "off"
    if not order.presolve:
        parameters.presolve = mathopt.Emphasis.OFF
    if order.nodes is not None:
        parameters.highs.int_options["mip_max_nodes"] = order.nodes
    if order.prove_only:
        parameters.highs.double_options["mip_heuristic_effort"] = 0.0
        parameters.highs.bool_options.update(dict.fromkeys(_HEURISTICS, False))
    if not deadline.unlimited:
        parameters.highs.double_options["time_limit"] = deadline.remaining()
    about = mathopt.ModelSolveParameters(variable_values_filter=mathopt.VariableFilter(filtered_items=wanted))
    try:
        result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=about)
    except (AttributeError, RuntimeError):
        # HiGHS gave up (`kError`), which OR-tools fails to put into words; what its presolve cannot do it can
        parameters.presolve = mathopt.Emphasis.OFF
        if not deadline.unlimited:
            parameters.highs.double_options["time_limit"] = deadline.remaining()
        result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=about)
    values: FloatArray | None = None
    if result.has_primal_feasible_solution():
        found = result.variable_values()
        values = np.array([found[variable] for variable in wanted])
    status = _STATUS.get(result.termination.reason, "stopped")
    say(SolverAnswer(status, values, result.dual_bound()))
