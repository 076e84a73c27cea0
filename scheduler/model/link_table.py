"""A value per link: as a matrix, or computed where it is asked for."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, IntArray, frozen, plain_numbers
from scheduler.base.checks import LARGEST, ModelError, number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST_MATRIX = 4096
"""Nodes up to which a matrix is made of computed values (134 MB); see `NetworkTooLargeError`."""
KEPT_MATRIX = 512
"""Nodes up to which the matrix is made anyhow (2 MB): looking up is faster than computing."""
BLOCK_VALUES = 1 << 20
"""Values that are computed at once (8 MB) where a block is only looked through."""


class NetworkTooLargeError(ValueError):
    """Something asked for a value per pair of nodes on a network that is too large for it."""


class LinkTable(ABC):
    """A value >= 0 of every ordered pair of `count` nodes, such as d_(u,v) in ms; 0 from a node to itself."""

    count: int

    @abstractmethod
    def between(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the values of pairs of nodes, elementwise, in the shape that both broadcast to."""

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return (len(rows), len(columns)) the values from every row's node to every column's."""
        return self.between(rows[:, None], columns)

    @abstractmethod
    def matrix(self) -> FloatArray:
        """Return all values, (count, count), read-only.

        Raises:
            NetworkTooLargeError: They would have to be computed for more than `LARGEST_MATRIX` nodes.
        """

    @abstractmethod
    def restricted(self, nodes: IntArray) -> LinkTable:
        """Return the table of some of the nodes, in the order given."""

    def extremes(
        self, rows: IntArray, columns: IntArray, exact_pairs: int = BLOCK_VALUES
    ) -> tuple[float, float]:
        """Return bounds (least, most) of the values from the nodes of `rows` to those of `columns`.

        They are reached by some pair, except with coordinates and more than `exact_pairs` pairs: then they
        come from the boxes around the two groups of nodes.

        Args:
            rows: (k,) distinct node indices, at least one.
            columns: Likewise.
            exact_pairs: Pairs that may be looked at.
        """
        del exact_pairs
        return self._looked_up(rows, columns)

    def _looked_up(self, rows: IntArray, columns: IntArray) -> tuple[float, float]:
        step = max(1, BLOCK_VALUES // len(columns))
        least, most = math.inf, -math.inf
        for first in range(0, len(rows), step):
            block = self.block(rows[first : first + step], columns)
            least, most = min(least, float(block.min())), max(most, float(block.max()))
        return least, most


@dataclass(frozen=True, eq=False)
class MatrixTable(LinkTable):
    """Values as they are given.

    Attributes:
        values: (n_nodes, n_nodes), read-only, diagonal 0; already checked.
    """

    values: FloatArray

    @property
    def count(self) -> int:  # type: ignore[override]  # it follows from the matrix
        """Number of nodes."""
        return len(self.values)

    def between(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the values of pairs of nodes, elementwise."""
        return self.values[start, end]

    def matrix(self) -> FloatArray:
        """Return all values."""
        return self.values

    def restricted(self, nodes: IntArray) -> MatrixTable:
        """Return the table of some of the nodes, in the order given."""
        return MatrixTable(frozen(self.block(nodes, nodes)))


@dataclass(frozen=True, eq=False)
class Apart(LinkTable):
    """1 between distinct nodes; it takes no memory per pair unless the matrix is asked for.

    Attributes:
        count: Number of nodes.
    """

    count: int

    def between(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return 1 for each pair of distinct nodes, elementwise."""
        return np.not_equal(start, end).astype(np.float64)

    def matrix(self) -> FloatArray:
        """Return all values, made when first asked for."""
        return self._matrix

    @cached_property
    def _matrix(self) -> FloatArray:
        return frozen(1.0 - np.eye(self.count))

    def __getstate__(self) -> dict[str, int]:
        return {"count": self.count}

    def restricted(self, nodes: IntArray) -> Apart:
        """Return the table of some of the nodes."""
        return Apart(len(nodes))

    def extremes(
        self, rows: IntArray, columns: IntArray, exact_pairs: int = BLOCK_VALUES
    ) -> tuple[float, float]:
        """Return whether the two ends have to be on distinct nodes, and whether they can."""
        del exact_pairs
        least = 0.0 if np.isin(rows, columns, assume_unique=True).any() else 1.0
        return least, 1.0 if len(rows) > 1 or len(columns) > 1 else least


@dataclass(frozen=True, eq=False)
class Coordinates(LinkTable):
    """Network coordinates with heights (Vivaldi): the delay is the Euclidean distance plus both heights.

    Memory: O(n_nodes); delays are computed for the pairs that are asked for.

    Attributes:
        points: (n_nodes, n_dimensions) in ms, read-only.
        heights: (n_nodes,) in ms, >= 0, read-only.
    """

    points: FloatArray
    heights: FloatArray

    @property
    def count(self) -> int:  # type: ignore[override]  # it follows from the coordinates
        """Number of nodes."""
        return len(self.heights)

    @staticmethod
    def of(rows: Sequence[Sequence[float]] | FloatArray) -> Coordinates:
        """Return checked coordinates.

        Args:
            rows: Per node ``[x, y, ..., height]``, all of one length >= 2, in ms.

        Raises:
            ModelError: A row has another length or holds no finite number; the place is ``[row][column]``.
        """
        for k, row in enumerate(rows):
            if not isinstance(row, list | tuple | np.ndarray) or len(row) < 2 or len(row) != len(rows[0]):
                raise ModelError(f"[{k}]", f"expected [x, y, ..., height] like the others, got {shown(row)}")
            plain = plain_numbers(row)
            if plain is not None and (np.abs(plain) <= LARGEST).all() and plain[-1] >= 0:
                continue
            for c, value in enumerate(row):
                number(f"[{k}][{c}]", value, least=0.0 if c == len(row) - 1 else -LARGEST)
        values = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
        return Coordinates(frozen(values[:, :-1].copy()), frozen(values[:, -1].copy()))

    def rows(self) -> FloatArray:
        """Return (n_nodes, n_dimensions + 1) the coordinates as they were given, height last."""
        return np.column_stack([self.points, self.heights])

    def between(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the delays of pairs of nodes, elementwise."""
        if self.count <= KEPT_MATRIX:
            return self._matrix[start, end]
        distance = np.sqrt(((self.points[start] - self.points[end]) ** 2).sum(axis=-1))
        delay = distance + self.heights[start] + self.heights[end]
        return np.where(np.equal(start, end), 0.0, delay)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return (len(rows), len(columns)) the delays from every row's node to every column's."""
        return super().block(rows, columns) if self.count <= KEPT_MATRIX else self._computed(rows, columns)

    def _computed(self, rows: IntArray, columns: IntArray) -> FloatArray:
        squared = np.zeros((len(rows), len(columns)))
        for axis in self.points.T:
            apart = axis[rows][:, None] - axis[columns][None, :]
            squared += np.multiply(apart, apart, out=apart)
        delay = np.sqrt(squared, out=squared)
        delay += self.heights[rows][:, None]
        delay += self.heights[columns][None, :]
        delay[np.equal(rows[:, None], columns[None, :])] = 0.0
        return delay

    def matrix(self) -> FloatArray:
        """Return all delays, made when first asked for."""
        if self.count > LARGEST_MATRIX:
            raise NetworkTooLargeError(
                f"{self.count} nodes are too many for a matrix of their delays (at most {LARGEST_MATRIX})"
            )
        return self._matrix

    @cached_property
    def _matrix(self) -> FloatArray:
        every = np.arange(self.count)
        return frozen(self._computed(every, every))

    def restricted(self, nodes: IntArray) -> Coordinates:
        """Return the delays between some of the nodes, in the order given."""
        return Coordinates(frozen(self.points[nodes]), frozen(self.heights[nodes]))

    def extremes(
        self, rows: IntArray, columns: IntArray, exact_pairs: int = BLOCK_VALUES
    ) -> tuple[float, float]:
        """Return bounds (least, most) of the delays from the nodes of `rows` to those of `columns`."""
        if len(rows) * len(columns) <= exact_pairs:
            return self._looked_up(rows, columns)
        low_a, high_a = self.points[rows].min(axis=0), self.points[rows].max(axis=0)
        low_b, high_b = self.points[columns].min(axis=0), self.points[columns].max(axis=0)
        apart = np.maximum(0.0, np.maximum(low_b - high_a, low_a - high_b))
        across = np.maximum(high_b - low_a, high_a - low_b)
        heights_a, heights_b = self.heights[rows], self.heights[columns]
        shared = np.isin(rows, columns, assume_unique=True).any()
        least = 0.0 if shared else math.hypot(*apart) + float(heights_a.min() + heights_b.min())
        return least, math.hypot(*across) + float(heights_a.max() + heights_b.max())
