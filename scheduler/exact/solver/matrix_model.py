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
    _bounds: list[tuple[float, float]] = field(default_factory=list)
    _rows: list[IntArray] = field(default_factory=list)
    _columns: list[IntArray] = field(default_factory=list)
    _values: list[FloatArray] = field(default_factory=list)
    _count: int = 0

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
        require_time(self.deadline)
        number = len(self._bounds)
        self._bounds.append((low, high))
        for columns, values in terms:
            flat = np.atleast_1d(np.asarray(columns)).ravel()
            self._columns.append(flat)
            self._values.append(np.broadcast_to(np.asarray(values, dtype=np.float64).ravel(), flat.shape))
            self._rows.append(np.full(flat.size, number))

    def build(self, offset: float) -> MatrixModel:
        """Return the program; zero entries are left out."""
        bounds = np.array(self._bounds, dtype=np.float64).reshape(-1, 2)
        values = np.concatenate(self._values)
        kept = values != 0
        return MatrixModel(
            low=np.concatenate(self._low),
            high=np.concatenate(self._high),
            integer=np.concatenate(self._integer),
            objective=np.concatenate(self._objective),
            offset=offset,
            row_low=bounds[:, 0],
            row_high=bounds[:, 1],
            rows=np.concatenate(self._rows)[kept],
            columns=np.concatenate(self._columns)[kept],
            values=values[kept],
        )
