"""A mixed-integer program as arrays: quick to build, to send to a child process and to hand to a solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import require_time

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline


@dataclass(frozen=True, eq=False)
class MatrixModel:
    """Minimise objective @ x + offset with row_low <= A x <= row_high and low <= x <= high.

    Attributes:
        low: (n_variables,).
        high: (n_variables,).
        integer: (n_variables,) which variables are whole numbers.
        objective: (n_variables,).
        offset: Constant of the objective.
        row_low: (n_rows,).
        row_high: (n_rows,).
        rows: (n_entries,) row of each entry of A.
        columns: (n_entries,) its variable; (row, variable) occurs once.
        values: (n_entries,).
    """

    low: FloatArray
    high: FloatArray
    integer: BoolArray
    objective: FloatArray
    offset: float
    row_low: FloatArray
    row_high: FloatArray
    rows: IntArray
    columns: IntArray
    values: FloatArray


@dataclass
class ModelBuilder:
    """Collects variables and rows in blocks.

    Attributes:
        deadline: When there is no use in further rows.
    """

    deadline: Deadline
    _low: list[FloatArray] = field(default_factory=list)
    _high: list[FloatArray] = field(default_factory=list)
    _integer: list[BoolArray] = field(default_factory=list)
    _objective: list[FloatArray] = field(default_factory=list)
    _row_low: list[FloatArray] = field(default_factory=list)
    _row_high: list[FloatArray] = field(default_factory=list)
    _rows: list[IntArray] = field(default_factory=list)
    _columns: list[IntArray] = field(default_factory=list)
    _values: list[FloatArray] = field(default_factory=list)
    _count: int = 0
    _row_count: int = 0

    def variables(
        self, high: FloatArray, objective: FloatArray, *, integer: bool, low: float = 0.0
    ) -> IntArray:
        """Add a block of variables from `low` to `high` and return their indices, in its shape."""
        shape = high.shape
        first = self._count
        self._count += high.size
        self._low.append(np.full(high.size, low))
        self._high.append(high.ravel().astype(np.float64))
        self._integer.append(np.full(high.size, integer))
        self._objective.append(np.broadcast_to(objective, shape).ravel().astype(np.float64))
        return np.arange(first, self._count).reshape(shape)

    def row(self, low: float, high: float, *terms: tuple[IntArray | int, FloatArray | float]) -> None:
        """Add low <= sum of coefficient x variable over all terms <= high; no variable twice.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        flat = [(np.reshape(columns, (1, -1)), np.reshape(values, (1, -1))) for columns, values in terms]
        self.rows(1, low, high, *flat)

    def rows(
        self,
        count: int,
        low: FloatArray | float,
        high: FloatArray | float,
        *terms: tuple[IntArray, FloatArray | float],
    ) -> None:
        """Add so many rows at once, as `row` would one after the other.

        Args:
            count: How many.
            low: (count,) or one for all, like `high`.
            high: See `low`.
            terms: Variables and coefficients of a term, each broadcasting to (count, width).

        Raises:
            OutOfTimeError: The deadline came first.
        """
        require_time(self.deadline)
        number = np.arange(self._row_count, self._row_count + count)[:, None]
        self._row_count += count
        self._row_low.append(np.broadcast_to(low, count))
        self._row_high.append(np.broadcast_to(high, count))
        for columns, values in terms:
            shape = (count, columns.shape[-1])
            self._rows.append(np.broadcast_to(number, shape).ravel())
            self._columns.append(np.broadcast_to(columns, shape).ravel())
            self._values.append(np.broadcast_to(np.asarray(values, dtype=np.float64), shape).ravel())

    def build(self, offset: float) -> MatrixModel:
        """Return the program; zero entries are left out."""
        values = np.concatenate(self._values)
        kept = values != 0
        return MatrixModel(
            low=np.concatenate(self._low),
            high=np.concatenate(self._high),
            integer=np.concatenate(self._integer),
            objective=np.concatenate(self._objective),
            offset=offset,
            row_low=np.concatenate(self._row_low),
            row_high=np.concatenate(self._row_high),
            rows=np.concatenate(self._rows)[kept],
            columns=np.concatenate(self._columns)[kept],
            values=values[kept],
        )
