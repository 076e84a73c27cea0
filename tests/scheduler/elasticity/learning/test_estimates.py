"""Estimates that do not contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.learning.estimates import averaged, clamped, fitted


def _random(seed: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.random((rows, columns)), random.integers(1, 20, (rows, columns)).astype(float)


def _in_order(table: np.ndarray) -> bool:
    return bool((np.diff(table, axis=0) <= 1e-12).all() and (np.diff(table, axis=1) >= -1e-12).all())


@pytest.mark.parametrize("again", [False, True])
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6))
def test_the_nearest_table_in_order(again: bool, seed: int, rows: int, columns: int) -> None:
    """What is left is at a right angle to the table, and leads away from all others that are in order.

    This is what makes a point of a cone the nearest one; tables in order are sums of stairs and a constant.
    It does not depend on the fit with which one begins.
    """
    table, weights = _random(seed, rows, columns)
    start = fitted(*_random(seed + 1, rows, columns)) if again else None
    fit = fitted(table, weights, start).table
    assert _in_order(fit)
    left = weights * (table - fit)
    assert (left * fit).sum() == pytest.approx(0.0, abs=1e-3)
    assert left.sum() == pytest.approx(0.0, abs=1e-3)
    random = np.random.default_rng(seed)
    for _ in range(50):
        height = np.sort(random.integers(0, rows + 1, columns))
        stairs = np.arange(rows)[:, None] < height
        assert (left * stairs).sum() <= 1e-3


def test_what_is_in_order_stays() -> None:
    table = np.array([[0.3, 0.5], [0.1, 0.2]])
    assert fitted(table, np.ones((2, 2))).table.tolist() == table.tolist()


def test_a_row_is_pooled_by_weights() -> None:
    """The mean of what contradicts each other, as the classical algorithm has it."""
    assert fitted(np.array([[0.4, 0.1, 0.5]]), np.array([[1.0, 3.0, 1.0]])).table == pytest.approx(
        np.array([[0.175, 0.175, 0.5]])
    )
    assert fitted(np.array([[0.1], [0.4]]), np.array([[1.0], [2.0]])).table == pytest.approx(
        np.array([[0.3], [0.3]])
    )


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6))
def test_a_clamped_table_stays_in_order(seed: int, rows: int, columns: int) -> None:
    table = np.zeros((rows, columns))
    random = np.random.default_rng(seed)
    for _ in range(20):
        row, column = int(random.integers(rows)), int(random.integers(columns))
        value = averaged(float(table[row, column]), float(random.integers(2)), 0.3)
        table = clamped(table, row, column, value)
        assert table[row, column] == value
        assert _in_order(table)
