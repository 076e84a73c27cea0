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
        model: The program; it is relaxed in place. Its variables and rows are numbered from 0 on.
    """

    def __init__(self, model: ModelProto) -> None:
        variables, rows, entries = model.variables, model.linear_constraints, model.linear_constraint_matrix
        variables.integers[:] = [False] * len(variables.ids)
        self.low, self.high = np.array(variables.lower_bounds), np.array(variables.upper_bounds)
        self._offset = model.objective.offset
        self._cost = np.zeros(len(variables.ids))
        self._cost[model.objective.linear_coefficients.ids] = model.objective.linear_coefficients.values
        self._row_low, self._row_high = np.array(rows.lower_bounds), np.array(rows.upper_bounds)
        self._row, self._column = np.array(entries.row_ids), np.array(entries.column_ids)
        self._entry = np.array(entries.coefficients)
        self._model = mathopt.Model.from_model_proto(model)
        self._variables = [self._model.get_variable(each) for each in variables.ids]
        self._rows = [self._model.get_linear_constraint(each) for each in rows.ids]
        self._solver = mathopt.IncrementalSolver(self._model, mathopt.SolverType.GLOP)

    def limit(self, column: int, low: float, high: float) -> None:
        """Set the bounds of a variable."""
        variable = self._variables[column]
        variable.lower_bound, variable.upper_bound = low, high
        self.low[column], self.high[column] = low, high

    def solve(self, deadline: Deadline) -> LinearAnswer | None:
        """Return the optimum; None if the deadline comes first.

        Where GLOP has trouble with the numbers, the bound is minus infinity. If it says that there is no
        solution, that is believed.
        """
        # after a change of bounds the last basis is dual feasible, and few steps from the optimum
        parameters = mathopt.SolveParameters(
            lp_algorithm=mathopt.LPAlgorithm.DUAL_SIMPLEX, presolve=mathopt.Emphasis.OFF
        )
        if not deadline.unlimited:
            parameters.glop.max_time_in_seconds = deadline.remaining()
        result = self._solver.solve(params=parameters)
        if result.termination.reason == mathopt.TerminationReason.INFEASIBLE:
            return LinearAnswer(math.inf, *self._nothing())
        if result.termination.reason != mathopt.TerminationReason.OPTIMAL:
            unknown = LinearAnswer(-math.inf, *self._nothing())
            return None if deadline.expired() else unknown
        prices = np.array(result.dual_values(self._rows))
        bound, costs = self.proved(prices)
        return LinearAnswer(bound, np.array(result.variable_values(self._variables)), costs, prices)

    def _nothing(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return np.zeros(len(self.low)), np.zeros(len(self.low)), np.zeros(len(self._rows))

    def proved(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound that prices of rows prove, whatever they are, and the reduced costs that follow.

        So the solver's tolerances cannot make a bound too high (A. Neumaier, O. Shcherbina, "Safe bounds in
        linear and mixed-integer linear programming", Mathematical Programming 99, 2004). A variable without a
        bound on the side of its cost proves nothing: the bound is minus infinity then.
        """
        side = np.where(prices > 0, self._row_low, self._row_high)
        prices = np.where(np.isfinite(side), prices, 0.0)
        sides = np.where(np.isfinite(side), side, 0.0)
        spent = np.bincount(self._column, self._entry * prices[self._row], minlength=len(self._cost))
        costs = self._cost - spent
        at = np.where(costs > 0, self.low, self.high)
        own = costs[costs != 0] @ at[costs != 0]
        return float(self._offset + prices @ sides + own), costs


@dataclass(frozen=True, eq=False)
class LinearAnswer:
    """An optimum of a linear program.

    Attributes:
        bound: The objective of no solution is below; infinite if there is none.
        values: (n_variables,) the optimum.
        costs: (n_variables,) reduced costs: the bound grows by so much per unit that a variable is kept off
            the bound at which this is least.
        prices: (n_rows,) by how much the objective grows per unit that a row is moved.
    """

    bound: float
    values: FloatArray
    costs: FloatArray
    prices: FloatArray
