"""The search by batches of partial placements: true at any end, complete if it says so."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.base.work import Work
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import ignore
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.exact.branch import layered_search
from scheduler.exact.branch.by_search import THEN, search
from scheduler.exact.branch.relaxed_form import RelaxedForm
from scheduler.exact.form.class_form import class_form
from scheduler.model.limits import CoLocationLimit
from scheduler.model.objective import Objective
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements
    from tests.scheduler.exact.conftest import AnyProblem, Optimum

STAGES = ((1, 1), (20, 1 << 62))
"""A first stage that leaves much open, and all the rest."""


@pytest.fixture(autouse=True, scope="module")
def small_batches() -> Iterator[None]:
    """Batches of a few partial placements, so that small problems take many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layered_search, "CELLS", 40)
        yield


def ticking(looks: float) -> Deadline:
    """Return a deadline that expires after it was looked at so often."""
    ticks = itertools.count()
    return Deadline(clock=lambda: float(next(ticks)), at=looks)


def bad_start(problem: Problem, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """Return any feasible placement, so that much is left to be found."""
    random = np.random.default_rng(seed)
    choices = [np.flatnonzero(row) for row in problem.allowed]
    for _ in range(200):
        placement = np.array([random.choice(each) for each in choices])
        if not check(problem, placement):
            return placement
    return None


@given(seed=st.integers(0, 10_000), looks=st.integers(0, 60))
@settings(max_examples=60)
def test_whenever_the_time_ends_the_bound_is_true(
    any_problem: AnyProblem, optimum: Optimum, seed: int, looks: int
) -> None:
    """Also in the middle of a batch, or of placing the last class."""
    problem = any_problem(seed, 5, 4)
    start, best = bad_start(problem, seed), optimum(problem)
    if start is None or best is None:
        return
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(start, "start")
    open_places = search(class_form(problem), incumbent, Work(ticking(looks), np.inf), STAGES)

    assert incumbent.bound <= best + 1e-12
    if not open_places.any():
        assert incumbent.objective <= best + 2 * OBJECTIVE_STEP


@pytest.mark.parametrize("seed", [2, 7])
def test_no_moment_to_end_gives_a_false_proof(any_problem: AnyProblem, optimum: Optimum, seed: int) -> None:
    """Not even while the last class is placed: every look at the deadline is tried as the last one."""
    problem = any_problem(seed, 4, 4)
    start, best = bad_start(problem, seed), optimum(problem)
    assert start is not None
    assert best is not None
    for looks in itertools.count():
        deadline = ticking(looks)
        incumbent = Incumbent(problem, ignore)
        incumbent.offer(start, "start")
        open_places = search(class_form(problem), incumbent, Work(deadline, np.inf), STAGES)

        assert incumbent.bound <= best + 1e-12
        assert open_places.any() or incumbent.objective <= best + 2 * OBJECTIVE_STEP
        if not deadline.expired():  # it has ended by itself
            break


@pytest.mark.parametrize("seed", [1, 7, 19, 31, 56, 84, 127, 130, 140, 327, 342, 345])
def test_what_is_only_a_little_better_is_found(
    any_problem: AnyProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """The start is the second best placement, mostly by less than a thousandth: few places are promising."""
    problem = any_problem(seed, 4, 5)
    every = list(feasible_placements(problem))
    worth = [evaluate(problem, placement).objective for placement in every]
    best = min(worth)
    second = min(value for value in worth if value > best + 1e-6)
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(every[worth.index(second)], "start")
    open_places = search(class_form(problem), incumbent, Work(Deadline.none(), np.inf), THEN)

    assert not open_places.any()
    assert incumbent.objective == pytest.approx(best, abs=2 * OBJECTIVE_STEP)
    assert incumbent.bound <= best + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_moving_costs_about_keeps_the_bound_true(
    any_problem: AnyProblem, optimum: Optimum, seed: int
) -> None:
    """At any prices, after any sweeps, and on some of the nodes only."""
    drawn = any_problem(seed, 4, 5)
    apart = (CoLocationLimit(tuple(each.name for each in drawn.application.operators), 1),)
    objective = Objective({"network_usage": 0.7, "cost": 0.3})
    problem = replace(drawn, objective=objective, limits=apart if seed % 2 else ())
    random, nodes = np.random.default_rng(seed), np.array([2, 0, 3, 1])
    form, work = class_form(problem), Work(Deadline.none(), np.inf)
    relaxed = RelaxedForm(form, form.slots > 0)
    best, best_there = optimum(problem), optimum(restrict(problem, np.sort(nodes)))
    order = list(range(form.n_classes))
    for k in range(4):
        prices = random.exponential(0.02, form.capacity.shape) * (k % 2)
        prices[4] = 5.0 * (k > 1)  # of a node that is left out below
        relaxed.charge(prices)
        relaxed.bound()
        relaxed.sweep(order, work)
        assert best is None or relaxed.bound() <= best + 1e-12
        fewer = relaxed.restricted(nodes, form.slots[:, nodes] > 0)
        assert best_there is None or fewer.bound() <= best_there + 1e-12
        order.reverse()


@given(seed=st.integers(0, 10_000), most=st.integers(0, 3_000))
@settings(max_examples=30)
def test_whatever_the_limit_of_work_is_the_bound_is_true(
    any_problem: AnyProblem, optimum: Optimum, seed: int, most: int
) -> None:
    """Unequal demands included: who takes the same slots depends on them."""
    problem = any_problem(3 * seed, 5, 4)
    start, best = bad_start(problem, seed), optimum(problem)
    if start is None or best is None:
        return
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(start, "start")
    open_places = search(class_form(problem), incumbent, Work(Deadline.none(), most), STAGES)

    assert incumbent.bound <= best + 1e-12
    if not open_places.any():
        assert incumbent.objective <= best + 2 * OBJECTIVE_STEP


def test_the_deadline_is_looked_at_within_a_batch(any_problem: AnyProblem) -> None:
    """Extending a batch can take long: its children's bounds are computed only while there is time."""
    problem = any_problem(2, 6, 6)
    start = bad_start(problem, 1)
    assert start is not None
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(start, "start")
    done = Work(Deadline.none(), np.inf)
    search(class_form(problem), incumbent, done, STAGES)
    again = Incumbent(problem, ignore)
    again.offer(start, "start")
    cut = Work(Deadline.none(), done.done / 4)
    search(class_form(problem), again, cut, STAGES)

    # one batch of bounds for each class left at most beyond the limit
    assert cut.done <= cut.most + 40 * problem.n_ops + problem.n_nodes
