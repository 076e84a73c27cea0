from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.checks import ModelError
from scheduler.instances.generators.replacement import replacement, running
from scheduler.moving.horizon import best_sequence, prices_between
from scheduler.moving.move_prices import MovePrices
from scheduler.moving.prices import moves_of


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_no_sequence_is_cheaper(seed: int, steps: int, count: int) -> None:
    """Compared with every sequence there is."""
    random = np.random.default_rng(seed)
    worth, prices = random.random((steps, count)), random.random((count, count))
    np.fill_diagonal(prices, 0.0)
    start = random.random(count)

    def total(sequence: tuple[int, ...]) -> float:
        moves = sum(prices[one, other] for one, other in pairwise(sequence))
        return float(start[sequence[0]] + moves + worth[range(steps), sequence].sum())

    chosen = tuple(best_sequence(worth, prices, start).tolist())
    assert total(chosen) == pytest.approx(min(total(each) for each in product(range(count), repeat=steps)))


def test_an_announced_end_is_prepared_for() -> None:
    """A placement that will be lost soon is not gone to, although it is the better one now."""
    worth = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, np.inf], [1.0, np.inf]])
    prices = np.array([[0.0, 1.5], [1.5, 0.0]])
    assert best_sequence(worth, prices, prices[0]).tolist() == [0, 0, 0, 0]
    assert best_sequence(worth[:2], prices, prices[0]).tolist() == [1, 1]


def test_of_equals_it_stays() -> None:
    worth, prices = np.zeros((3, 2)), np.zeros((2, 2))
    assert best_sequence(worth, prices, np.array([0.0, 1.0])).tolist() == [0, 0, 0]


def test_a_step_without_any_placement_is_named() -> None:
    with pytest.raises(ModelError, match=r"worth\[1\]"):
        best_sequence(np.array([[0.0], [np.inf]]), np.zeros((1, 1)))


def test_prices_are_those_of_the_moves() -> None:
    """From each placement to each other one what `moves_of` adds up to."""
    random = np.random.default_rng(3)
    problem = replacement("dag", 5, 4, random)
    placements = random.integers(0, 4, (5, 6))
    prices = prices_between(problem, placements)
    for one, other in product(range(6), repeat=2):
        now = running(problem, placements[:, one])
        assert prices[one, other] == pytest.approx(sum(m.cost for m in moves_of(now, placements[:, other])))
        from_it = MovePrices.of(problem).from_one(placements[:, one], placements)
        assert from_it[other] == pytest.approx(prices[one, other])
