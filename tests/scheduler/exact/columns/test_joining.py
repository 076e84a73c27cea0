"""Joined is the best choice of one column per graph that the nodes hold, as all choices say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.base.work import OutOfTimeError
from scheduler.exact.columns import joining
from scheduler.exact.columns.graph_columns import Columns
from scheduler.exact.columns.joining import Shared, join
from scheduler.model.capacity import TOLERANCE

NEVER = Deadline.none()
SEEDS = range(6)
CLOSE = 1e-9


class Drawn:
    """Columns of some graphs, of different numbers, many with equal loads, and F of all their choices.

    F of a choice is no less than its cost under prices; `own` is what nodes add to that whatever is chosen.
    """

    def __init__(self, seed: int, graphs: int = 3, n_nodes: int = 3) -> None:
        random = np.random.default_rng(seed)
        price, charges = random.exponential(0.1, (n_nodes, 2)), random.exponential(0.5, n_nodes)
        capacity = random.integers(3, 7, (n_nodes, 2)).astype(np.float64)
        left = charges - (price * (capacity + TOLERANCE)).sum(axis=1)
        self.own = float(np.minimum(left, 0.0).sum())
        self.shared = Shared(capacity, charges, np.maximum(left, 0.0))
        self.columns = []
        for count in random.permutation(np.arange(5, 5 + 4 * graphs, 4)).tolist():
            at = random.integers(n_nodes, size=(count, 2))
            there = at[:, None, :] == np.arange(n_nodes)[:, None]
            load = there.astype(np.float64) @ np.array([[1.0, 0.0], [2.0, 1.0]])
            cost = random.exponential(1.0, count)
            priced = cost + (load * price).sum(axis=(1, 2))
            self.columns.append(Columns(at, priced, cost, load, there.any(axis=2)))
        self.choices = list(product(*(range(len(each.cost)) for each in self.columns)))
        self.worth = np.array([self.worth_of(choice) for choice in self.choices])

    def worth_of(self, choice: tuple[int, ...]) -> float:
        """Return what a choice adds to F, infinite if the nodes do not hold it."""
        chosen = list(zip(self.columns, choice, strict=True))
        if (sum(each.load[i] for each, i in chosen) > self.shared.capacity + TOLERANCE).any():
            return float("inf")
        used = np.any([each.used[i] for each, i in chosen], axis=0)
        return float(sum(each.cost[i] for each, i in chosen) + self.shared.charges[used].sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("above", [CLOSE, 0.3, 100.0])
def test_joined_is_the_best_of_all_choices(seed: int, above: float) -> None:
    drawn = Drawn(seed)
    best = float(drawn.worth.min())
    joined = join(drawn.columns, drawn.shared, best + above - drawn.own, NEVER)
    assert joined is not None
    assert joined.which is not None
    assert joined.cost == pytest.approx(best, abs=CLOSE)
    assert drawn.worth_of(joined.which) == pytest.approx(best, abs=CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_graph_alone_is_joined_too(seed: int) -> None:
    drawn = Drawn(seed, graphs=1)
    joined = join(drawn.columns, drawn.shared, 100.0, NEVER)
    assert joined is not None
    assert joined.which == drawn.choices[int(drawn.worth.argmin())]


@pytest.mark.parametrize("seed", SEEDS)
def test_little_at_once_is_as_good(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "AT_ONCE", 7)
    drawn = Drawn(seed)
    joined = join(drawn.columns, drawn.shared, 100.0, NEVER)
    assert joined is not None
    assert joined.cost == pytest.approx(float(drawn.worth.min()), abs=CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_choice_is_below_a_limit_that_is_below_all(seed: int) -> None:
    drawn = Drawn(seed)
    least = sum(float(each.priced.min()) for each in drawn.columns)
    joined = join(drawn.columns, drawn.shared, least - CLOSE, NEVER)
    assert joined is not None
    assert joined.which is None
    assert joined.cost == np.inf


def test_columns_that_no_node_holds_together_give_no_choice() -> None:
    drawn = Drawn(0)
    small = Shared(np.ones((3, 2)), drawn.shared.charges, drawn.shared.unpaid)
    joined = join(drawn.columns, small, 100.0, NEVER)
    assert joined is not None
    assert joined.which is None


@pytest.mark.parametrize("most", ["MOST_CHEAP", "MOST_PAIRS"])
def test_too_many_pairs_give_no_answer(most: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(0)
    monkeypatch.setattr(joining, most, 3)
    assert join(drawn.columns, drawn.shared, 100.0, NEVER) is None


def test_a_deadline_that_is_over_stops_the_joining() -> None:
    drawn = Drawn(0)
    with pytest.raises(OutOfTimeError):
        join(drawn.columns, drawn.shared, 100.0, Deadline(lambda: 1.0, 1.0))
