"""HiGHS, through OR-tools' MathOpt, as work that a child process can do and be killed at."""

from __future__ import annotations

import math
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
    """

    model: ModelProto
    wanted: IntArray
    prove_only: bool = False


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
    parameters = mathopt.SolveParameters(relative_gap_tolerance=0.0, absolute_gap_tolerance=0.0)
    parameters.highs.string_options["parallel"] = "off"
    if order.prove_only:
        parameters.highs.double_options["mip_heuristic_effort"] = 0.0
        parameters.highs.bool_options.update(dict.fromkeys(_HEURISTICS, False))
    if not deadline.unlimited:
        parameters.highs.double_options["time_limit"] = deadline.remaining()
    about = mathopt.ModelSolveParameters(variable_values_filter=mathopt.VariableFilter(filtered_items=wanted))
    result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=about)
    values: FloatArray | None = None
    if result.has_primal_feasible_solution():
        found = result.variable_values()
        values = np.array([found[variable] for variable in wanted])
    status = _STATUS.get(result.termination.reason, "stopped")
    say(SolverAnswer(status, values, result.dual_bound()))


class LinearProgram:
    """The linear relaxation of a program, solved by GLOP again and again while variables are fixed.

    Args:
        model: The program; it is relaxed in place.
        priced: Variables whose values and reduced costs are asked for.
    """

    def __init__(self, model: ModelProto, priced: IntArray) -> None:
        model.variables.integers[:] = [False] * len(model.variables.ids)
        self._model = mathopt.Model.from_model_proto(model)
        self._priced = [self._model.get_variable(column) for column in priced.tolist()]
        self._solver = mathopt.IncrementalSolver(self._model, mathopt.SolverType.GLOP)

    def limit(self, column: int, low: float, high: float) -> None:
        """Set the bounds of a variable."""
        variable = self._model.get_variable(column)
        variable.lower_bound, variable.upper_bound = low, high

    def solve(self, deadline: Deadline) -> LinearAnswer | None:
        """Return the optimum, infinite if there is no solution; None if the deadline comes first."""
        # after a change of bounds the last basis is dual feasible, and few steps from the optimum
        parameters = mathopt.SolveParameters(
            lp_algorithm=mathopt.LPAlgorithm.DUAL_SIMPLEX, presolve=mathopt.Emphasis.OFF
        )
        if not deadline.unlimited:
            parameters.glop.max_time_in_seconds = deadline.remaining()
        result = self._solver.solve(params=parameters)
        if result.termination.reason == mathopt.TerminationReason.INFEASIBLE:
            return LinearAnswer(math.inf, np.zeros(len(self._priced)), np.zeros(len(self._priced)))
        if result.termination.reason != mathopt.TerminationReason.OPTIMAL:
            return None
        values, costs = (
            np.array(each(self._priced)) for each in (result.variable_values, result.reduced_costs)
        )
        return LinearAnswer(result.objective_value(), values, costs)


@dataclass(frozen=True, eq=False)
class LinearAnswer:
    """An optimum of a linear program.

    Attributes:
        objective: Its value; infinite if there is no solution.
        values: Of the priced variables.
        costs: Their reduced costs: what the objective grows by, at least, per unit that they move from the
            bound where they are.
    """

    objective: float
    values: FloatArray
    costs: FloatArray
