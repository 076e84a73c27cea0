"""A part solved by columns has the best of its placements; of one that is not, nothing better is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.columns.by_columns import ByColumns, PartOfColumns, has_columns, solve_by_columns
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.program import SCALE
from scheduler.exact.solver.relaxation import relaxed
from tests.scheduler.exact.columns.joint_problems import (
    every_placement,
    joint_form,
    joint_problem,
    objectives,
    some_places,
    some_prices,
)

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.columns.prices import Prices
    from scheduler.exact.form.class_form import ClassForm
    from tests.scheduler.conftest import RichProblem

NEVER = Deadline.none()
SEEDS = range(6)
MANY = 10**6
CLOSE = 1e-9


def some_part(form: ClassForm, random: np.random.Generator) -> tuple[PartOfColumns, IntArray, FloatArray]:
    """Return a part, its placements (k, n_classes) and their F."""
    places = some_places(form, random)
    in_use = np.flatnonzero(places.any(axis=0) & (random.random(form.n_nodes) < 0.4))
    at = every_placement(places)
    at = at[(at[:, :, None] == in_use).any(axis=1).all(axis=1)]
    return PartOfColumns(places, tuple(in_use.tolist())), at, objectives(form, at)


def priced_by_relaxation(form: ClassForm) -> Prices:
    """Return the prices of the relaxation on all places."""
    whole = relaxed(form, form.slots > 0, 1e9, NEVER)
    assert whole is not None
    return whole.program.priced.prices(form, whole.answer.prices / SCALE)


def limits(worth: FloatArray) -> list[float]:
    """Return a limit below all placements that fit, some among them, and one above all."""
    fitting = np.sort(worth[np.isfinite(worth)])
    return [fitting[0] - 0.01, *np.quantile(fitting, [0.0, 0.05, 0.5]), fitting[-1] + 1.0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [0.0, 0.02, 0.5, None])
def test_a_solved_part_has_the_best_of_its_placements(seed: int, size: float | None) -> None:
    problem = joint_problem(seed)
    form, random = class_form(problem), np.random.default_rng(seed)
    part, _, worth = some_part(form, random)
    prices = priced_by_relaxation(form) if size is None else some_prices(form, random, size)
    for limit in limits(worth):
        known = solve_by_columns(form, part, prices, limit, most=MANY, deadline=NEVER)
        assert known.solved
        if known.at is None:
            assert worth.min() >= limit - CLOSE
            continue
        assert part.places[np.arange(form.n_classes), known.at].all()
        placement = np.empty_like(known.at)
        placement[np.concatenate(form.classes)] = known.at
        assert evaluate(problem, placement).objective == pytest.approx(known.objective, abs=CLOSE)
        assert objectives(form, known.at[None])[0] == pytest.approx(known.objective, abs=CLOSE)
        assert known.objective < limit
        assert known.objective <= worth.min() + CLOSE
        assert known.bound == known.objective


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [0.0, 0.02, 0.5, None])
@pytest.mark.parametrize("most", [1, 4])
def test_a_part_that_is_not_solved_keeps_what_is_better(seed: int, size: float | None, most: int) -> None:
    form, random = joint_form(seed), np.random.default_rng(seed)
    part, at, worth = some_part(form, random)
    prices = priced_by_relaxation(form) if size is None else some_prices(form, random, size)
    for limit in limits(worth):
        known = solve_by_columns(form, part, prices, limit, most=most, deadline=NEVER)
        better = worth < limit - CLOSE
        if known.solved:
            assert min(limit, known.objective) <= worth.min() + CLOSE
            continue
        assert not (known.places & ~part.places).any()
        assert known.places[np.arange(form.n_classes), at[better]].all()
        assert (worth[better] >= known.bound - CLOSE).all()


def bound(form: ClassForm, prices: Prices) -> float:
    """Return the bound of all placements where nothing may be listed."""
    part = PartOfColumns(form.slots > 0, ())
    known: ByColumns = solve_by_columns(form, part, prices, 1e9, most=0, deadline=NEVER)
    assert not known.solved
    return known.bound


@pytest.mark.parametrize("seed", SEEDS)
def test_prices_of_a_relaxation_give_no_bound_above_the_best(seed: int) -> None:
    form = joint_form(seed)
    best = objectives(form, every_placement(form.slots > 0)).min()
    assert bound(form, priced_by_relaxation(form)) <= best + CLOSE


@pytest.mark.parametrize("kind", ["capacity", "place", "stream", "end"])
def test_each_kind_of_price_of_a_relaxation_raises_bounds(kind: str) -> None:
    gained = []
    for seed in range(12):
        form = joint_form(seed)
        prices = priced_by_relaxation(form)
        nothing: object = {} if kind == "stream" else np.zeros_like(getattr(prices, kind))
        gained.append(bound(form, prices) - bound(form, replace(prices, **{kind: nothing})))
    assert sum(gained) > 0.05


def test_only_what_columns_can_state_has_them(ruled_problem: RichProblem) -> None:
    form, pays = joint_form(1), np.zeros(3)
    assert has_columns(form)
    assert has_columns(replace(form, set_up=None))
    assert has_columns(replace(form, set_up=pays))
    pays[0] = -0.1
    assert not has_columns(replace(form, set_up=pays)), "a node pays for its use"
    assert not has_columns(replace(form, size=form.size + 1)), "a class has several members"
    assert not has_columns(class_form(ruled_problem(1, 5, 4))), "there are rules"
