"""A mixed-integer program as the solver's library sends and takes it, written in blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from ortools.math_opt import model_pb2

from scheduler.base.work import require_time

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline


@dataclass
class ModelBuilder:
    """Collects variables and rows of a program whose objective is minimised.

    Attributes:
        deadline: When there is no use in further rows.
    """

    deadline: Deadline
    _model: model_pb2.ModelProto = field(default_factory=model_pb2.ModelProto)
    _rows: list[IntArray] = field(default_factory=list)
    _columns: list[IntArray] = field(default_factory=list)
    _values: list[FloatArray] = field(default_factory=list)

    def variables(
        self, high: FloatArray, objective: FloatArray, *, integer: bool, low: FloatArray | float = 0.0
    ) -> IntArray:
        """Add a block of variables from `low` to `high` and return their indices, in its shape."""
        variables, costs = self._model.variables, self._model.objective.linear_coefficients
        index = np.arange(high.size) + len(variables.ids)
        variables.ids.extend(index.tolist())
        variables.lower_bounds.extend(np.broadcast_to(low, high.shape).ravel().tolist())
        variables.upper_bounds.extend(high.ravel().tolist())
        variables.integers.extend([integer] * high.size)
        cost = np.broadcast_to(objective, high.shape).ravel()
        costs.ids.extend(index[cost != 0].tolist())
        costs.values.extend(cost[cost != 0].tolist())
        return index.reshape(high.shape)

    def row(self, low: float, high: float, *terms: tuple[IntArray | int, FloatArray | float]) -> int:
        """Add low <= sum of coefficient x variable over all terms <= high; return the row's number.

        No variable may be there twice.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        flat = [(np.reshape(columns, (1, -1)), np.reshape(values, (1, -1))) for columns, values in terms]
        return int(self.rows(1, low, high, *flat)[0])

    def rows(
        self,
        count: int,
        low: FloatArray | float,
        high: FloatArray | float,
        *terms: tuple[IntArray, FloatArray | float],
    ) -> IntArray:
        """Add so many rows at once, as `row` would one after the other; return their numbers (count,).

        Args:
            count: How many.
            low: (count,) or one for all, like `high`.
            high: See `low`.
            terms: Variables and coefficients of a term, each broadcasting to (count, width).

        Raises:
            OutOfTimeError: The deadline came first.
        """
        require_time(self.deadline)
        rows = self._model.linear_constraints
        number = np.arange(count) + len(rows.ids)
        rows.ids.extend(number.tolist())
        rows.lower_bounds.extend(np.broadcast_to(low, count).tolist())
        rows.upper_bounds.extend(np.broadcast_to(high, count).tolist())
        for columns, values in terms:
            shape = (count, columns.shape[-1])
            self._rows.append(np.broadcast_to(number[:, None], shape).ravel())
            self._columns.append(np.broadcast_to(columns, shape).ravel())
            self._values.append(np.broadcast_to(np.asarray(values, dtype=np.float64), shape).ravel())
        return number

    def objective_row(self, most: float) -> None:
        """Add the row that the objective, without its constant, is at most so much."""
        costs = self._model.objective.linear_coefficients
        self.row(-np.inf, most, (np.array(costs.ids, dtype=np.int64), np.array(costs.values)))

    def build(self, offset: float) -> model_pb2.ModelProto:
        """Return the program with a constant in its objective; zero coefficients are left out."""
        rows, columns, values = (np.concatenate(each) for each in (self._rows, self._columns, self._values))
        order = np.lexsort((columns, rows))
        order = order[values[order] != 0]
        matrix = self._model.linear_constraint_matrix
        matrix.row_ids.extend(rows[order].tolist())
        matrix.column_ids.extend(columns[order].tolist())
        matrix.coefficients.extend(values[order].tolist())
        self._model.objective.offset = offset
        return self._model
