"""Linear relaxations, solved again and again while variables are fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.math_opt import (
    callback_pb2,
    model_parameters_pb2,
    parameters_pb2,
    result_pb2,
    sparse_containers_pb2,
)
from ortools.math_opt.core.python import solver

if TYPE_CHECKING:
    from ortools.math_opt.model_pb2 import ModelProto

    from scheduler.base.arrays import FloatArray
    from scheduler.base.deadline import Deadline

_NONE = sparse_containers_pb2.SparseVectorFilterProto(filter_by_ids=True)


class LinearProgram:
    """The linear relaxation of a program, solved by the dual simplex of HiGHS.

    It speaks to the solver in the library's messages: the classes of Python around these make an object per
    variable, which takes several times as long as the solver itself.

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
        self._model = model

    def limit(self, column: int, low: float, high: float) -> None:
        """Set the bounds of a variable."""
        self.low[column], self.high[column] = low, high
        self._model.variables.lower_bounds[column] = low
        self._model.variables.upper_bounds[column] = high

    def solve(self, deadline: Deadline) -> LinearAnswer | None:
        """Return the optimum; None if the deadline comes first.

        Where HiGHS has trouble with the numbers, the bound is minus infinity. If it says that there is no
        solution, that is believed.
        """
        parameters = parameters_pb2.SolveParametersProto(
            lp_algorithm=parameters_pb2.LP_ALGORITHM_DUAL_SIMPLEX, presolve=parameters_pb2.EMPHASIS_OFF
        )
        parameters.highs.string_options["parallel"] = "off"
        if not deadline.unlimited:
            parameters.highs.double_options["time_limit"] = deadline.remaining()
        wanted = model_parameters_pb2.ModelSolveParametersProto(reduced_costs_filter=_NONE)
        no_callback = callback_pb2.CallbackRegistrationProto()
        nothing = parameters_pb2.SolverInitializerProto()
        result = solver.new(parameters_pb2.SOLVER_TYPE_HIGHS, self._model, nothing).solve(
            parameters, wanted, None, no_callback, None, None
        )
        if result.termination.reason == result_pb2.TERMINATION_REASON_INFEASIBLE:
            return self._without_solution(math.inf)
        if result.termination.reason != result_pb2.TERMINATION_REASON_OPTIMAL:
            return None if deadline.expired() else self._without_solution(-math.inf)
        values, prices = np.zeros(len(self.low)), np.zeros(len(self._row_low))
        solution = result.solutions[0]
        of_variables, of_rows = solution.primal_solution.variable_values, solution.dual_solution.dual_values
        values[of_variables.ids] = of_variables.values
        prices[of_rows.ids] = of_rows.values
        bound, costs = self.proved(prices)
        return LinearAnswer(bound, values, costs, prices)

    def _without_solution(self, bound: float) -> LinearAnswer:
        columns = len(self.low)
        return LinearAnswer(bound, np.zeros(columns), np.zeros(columns), np.zeros(len(self._row_low)))

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
