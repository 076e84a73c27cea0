"""The columns of a graph are all its placements below a limit, whatever the prices; each is priced right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.base.work import OutOfTimeError
from scheduler.exact.columns.graph_columns import GraphColumns
from scheduler.exact.columns.partial import Partial
from tests.scheduler.exact.columns.joint_problems import (
    added,
    every_placement,
    joint_form,
    keeps,
    loads,
    negated,
    some_places,
    some_prices,
)

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm

NEVER = Deadline.none()
SEEDS = range(6)
MANY = 10**6
CLOSE = 1e-9


class Listed:
    """A graph's columns, and what they should be: all placements that keep the capacities."""

    def __init__(self, form: ClassForm, graph: int, random: np.random.Generator, size: float) -> None:
        places, prices = some_places(form, random), some_prices(form, random, size)
        charge = random.exponential(size, form.n_nodes) * (random.random(form.n_nodes) < 0.5)
        self.columns = GraphColumns(form, graph, places, prices, charge)
        members = self.columns.members
        at = every_placement(places[members])
        load, _ = loads(form.demand[members], at, form.n_nodes)
        self.at: IntArray = at[keeps(form, load)]
        self.load, self.used = loads(form.demand[members], self.at, form.n_nodes)
        self.cost = added(form, members, self.at)
        self.priced: FloatArray = self.cost + (self.load * prices.capacity).sum(axis=(1, 2))
        for i, c in enumerate(members):
            self.priced = self.priced + prices.place[c, self.at[:, i]]
        self.total: FloatArray = self.priced + self.used @ charge


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [0.0, 0.03, 1.0])
def test_columns_are_all_placements_below_a_limit(seed: int, size: float) -> None:
    form, random = joint_form(seed, 4, 3), np.random.default_rng(seed)
    form = negated(form) if seed % 4 == 3 else form
    for graph in range(2):
        listed = Listed(form, graph, random, size)
        for share in (0.0, 0.1, 0.5, 1.0):
            limit = float(np.quantile(listed.total, share)) + CLOSE
            columns = listed.columns.below(limit, MANY, NEVER)
            assert columns is not None
            below = listed.total <= limit
            order, wanted = np.lexsort(columns.at.T), np.lexsort(listed.at[below].T)
            np.testing.assert_array_equal(columns.at[order], listed.at[below][wanted])
            np.testing.assert_allclose(columns.cost[order], listed.cost[below][wanted], atol=CLOSE)
            np.testing.assert_allclose(columns.priced[order], listed.priced[below][wanted], atol=CLOSE)
            np.testing.assert_allclose(columns.load[order], listed.load[below][wanted], atol=CLOSE)
            np.testing.assert_array_equal(columns.used[order], listed.used[below][wanted])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [0.0, 0.03, 1.0])
def test_no_column_costs_less_than_the_least(seed: int, size: float) -> None:
    form, random = joint_form(seed, 4, 3), np.random.default_rng(seed)
    form = negated(form) if seed % 4 == 3 else form
    for graph in range(2):
        listed = Listed(form, graph, random, size)
        assert listed.columns.least <= listed.priced.min() + CLOSE


@pytest.mark.parametrize("seed", SEEDS)
def test_more_columns_than_allowed_are_none(seed: int) -> None:
    form, random = joint_form(seed, 4, 3), np.random.default_rng(seed)
    listed = Listed(form, seed % 2, random, 0.03)
    limit = float(listed.total.max()) + CLOSE
    assert listed.columns.below(limit, len(listed.at) - 1, NEVER) is None


def test_nothing_is_below_the_least() -> None:
    form, random = joint_form(1, 4, 3), np.random.default_rng(1)
    listed = Listed(form, 0, random, 0.03)
    columns = listed.columns.below(listed.columns.least - CLOSE, MANY, NEVER)
    assert columns is not None
    assert not len(columns.cost)


def test_a_deadline_that_is_over_stops_the_listing() -> None:
    form, random = joint_form(1, 4, 3), np.random.default_rng(1)
    with pytest.raises(OutOfTimeError):
        Listed(form, 0, random, 0.03).columns.below(1.0, MANY, Deadline(lambda: 1.0, 1.0))


@pytest.mark.parametrize("seed", [6, 8, 15, 17])
def test_the_least_of_a_chain_on_large_nodes_is_what_its_best_column_costs(seed: int) -> None:
    form, random = joint_form(seed, 4, 3), np.random.default_rng(seed)
    form = replace(form, capacity=form.capacity + 10.0)
    chains = []
    for graph in range(2):
        ends = [(edge.source, edge.target) for edge in form.edges if form.graphs.member[edge.source] == graph]
        if len({a for a, _ in ends}) == len({b for _, b in ends}) == len(ends):
            listed = Listed(form, graph, random, 0.03)
            chains.append(listed.columns.least == pytest.approx(listed.priced.min(), abs=CLOSE))
    assert any(chains)
    assert all(chains)


@pytest.mark.parametrize("seed", SEEDS)
def test_prices_side_by_side_give_what_each_gives_alone(seed: int) -> None:
    form, random = joint_form(seed, 4, 3), np.random.default_rng(seed)
    places, prices = some_places(form, random), some_prices(form, random, 0.1)
    factors, charges = random.uniform(0.0, 3.0, 5), random.exponential(0.1, (5, form.n_nodes))
    each = [replace(prices, capacity=prices.capacity * x, place=prices.place * x) for x in factors]
    several = replace(
        prices,
        capacity=np.array([one.capacity for one in each]),
        place=np.array([one.place for one in each]),
    )
    live = Partial.nothing(form.capacity, 5)
    alone = [Partial.nothing(form.capacity) for _ in each]
    for graph in (1, 0):
        live = GraphColumns(form, graph, places, several, charges).behind(live, 3)
        alone = [
            GraphColumns(form, graph, places, price, charge).behind(one, 3)
            for price, charge, one in zip(each, charges, alone, strict=True)
        ]
    assert (live.priced < np.inf).any()
    for k, one in enumerate(alone):
        order, wanted = live.priced.reshape(5, -1)[k].argsort(), one.priced.argsort()
        np.testing.assert_allclose(live.priced.reshape(5, -1)[k][order], one.priced[wanted])
        has_room = one.priced[wanted] < np.inf
        at = live.at.reshape(5, -1, live.at.shape[1])[k]
        np.testing.assert_array_equal(at[order][has_room], one.at[wanted][has_room])
