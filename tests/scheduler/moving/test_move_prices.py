"""What going from one placement to another costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.instances.generators.replacement import replacement
from scheduler.model.current import GONE, UNPLACED
from scheduler.moving.move_prices import MovePrices, loading_prices, spread_price
from scheduler.moving.prices import moves_of


def test_a_first_start_has_no_price() -> None:
    """Of an operator that runs nowhere yet, or whose node is gone."""
    problem = replacement("chain", 3, 3, np.random.default_rng(3))
    start = np.array([UNPLACED, GONE, 1])
    gone = replace(problem, current=start, gone={"o2": "n9"})
    prices = MovePrices(loading_prices(gone)).from_one(start, np.array([[0, 0], [0, 0], [1, 2]]))
    assert prices[0] == 0.0
    assert prices[1] == pytest.approx(moves_of(gone, np.array([0, 0, 2]))[-1].cost)


def test_a_price_that_is_spread_weighs_less() -> None:
    """The others keep their proportions, and the sum is 1."""
    weights = spread_price({"response_time": 0.5, "migration": 0.5}, 0.1)
    assert weights == pytest.approx({"response_time": 10 / 11, "migration": 1 / 11})


def test_a_change_has_its_price_once_however_much_moves() -> None:
    """Staying has none, and neither has a first start."""
    prices = MovePrices(np.zeros((2, 3)), 5.0)
    placements = np.array([[0, 1, 1], [0, 0, 2]])
    assert prices.from_one(np.array([0, 0]), placements).tolist() == [0.0, 5.0, 5.0]
    assert prices.from_one(np.array([UNPLACED, 0]), placements).tolist() == [0.0, 0.0, 5.0]
    assert prices.to_one(placements, np.array([1, 0])).tolist() == [5.0, 0.0, 5.0]
    assert prices.between(placements).tolist() == [[0.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 0.0]]
