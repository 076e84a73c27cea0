"""What going from one placement to another costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.generators.replacement import replacement
from scheduler.model.current import GONE, UNPLACED
from scheduler.moving.move_prices import MovePrices, spread_price
from scheduler.moving.prices import moves_of


def test_a_first_start_has_no_price() -> None:
    """Of an operator that runs nowhere yet, or whose node is gone."""
    problem = replacement("chain", 3, 3, np.random.default_rng(3))
    start = np.array([UNPLACED, GONE, 1])
    gone = replace(problem, current=start, gone={"o2": "n9"})
    prices = MovePrices.of(gone).from_one(start, np.array([[0, 0], [0, 0], [1, 2]]))
    assert prices[0] == 0.0
    assert prices[1] == pytest.approx(moves_of(gone, np.array([0, 0, 2]))[-1].cost)


def test_a_price_that_is_spread_weighs_less() -> None:
    """The others keep their proportions, and the sum is 1."""
    weights = spread_price({"response_time": 0.5, "migration": 0.5}, 0.1)
    assert weights == pytest.approx({"response_time": 10 / 11, "migration": 1 / 11})


def test_a_change_has_its_price_once_however_much_moves() -> None:
    """Staying has none, and neither has a first start."""
    prices = MovePrices(np.zeros((2, 3)), np.zeros(3), 5.0)
    placements = np.array([[0, 1, 1], [0, 0, 2]])
    assert prices.from_one(np.array([0, 0]), placements).tolist() == [0.0, 5.0, 5.0]
    assert prices.from_one(np.array([UNPLACED, 0]), placements).tolist() == [0.0, 0.0, 5.0]
    assert prices.to_one(placements, np.array([1, 0])).tolist() == [5.0, 0.0, 5.0]
    assert prices.between(placements).tolist() == [[0.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 0.0]]


def test_what_all_share_is_loaded_once_per_node_that_comes_into_use() -> None:
    """As the metric has it: not where one of them runs, and not where one has to start."""
    plain = replacement("chain", 3, 3, np.random.default_rng(3))
    nodes = tuple(replace(each, shared_pull_s=1.0 + u) for u, each in enumerate(plain.network.nodes))
    start = np.array([0, 0, 1])
    problem = replace(plain, network=replace(plain.network, nodes=nodes), current=start)
    placements = np.array([[0, 2, 2, 1], [0, 2, 0, 1], [1, 2, 1, 1]])
    stated = [evaluate(problem, each).values["migration"] for each in placements.T]
    prices = MovePrices.of(problem)
    assert prices.from_one(start, placements) == pytest.approx(stated)
    assert prices.to_one(start[:, None], placements[:, 1]) == pytest.approx(stated[1:2])
    assert prices.between(np.column_stack([start, placements]))[0, 1:] == pytest.approx(stated)
    unplaced = np.array([0, UNPLACED, 1])
    stated = [evaluate(replace(problem, current=unplaced), each).values["migration"] for each in placements.T]
    assert prices.from_one(unplaced, placements) == pytest.approx(stated)
