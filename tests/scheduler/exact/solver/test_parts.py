"""Cutting loses nothing better: it is in a part, whose bound is below, or no better than what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver import parts
from scheduler.exact.solver.ask import SOLVER_TOLERANCE
from scheduler.exact.solver.by_parts import is_cut
from scheduler.exact.solver.by_solver import search_by_solver
from scheduler.exact.solver.parts import Part, PartsNews, PartsOrder, cut
from scheduler.model.objective import Objective
from scheduler.model.problem import Problem
from tests.scheduler.exact.columns.joint_problems import joint_problem

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.exact.form.class_form import ClassForm
    from tests.scheduler.conftest import FeasiblePlacements
    from tests.scheduler.small_problems import AnyProblem

    Worths = list[tuple[float, IntArray]]

NEVER = Deadline.none()
SEEDS = [seed for seed in range(0, 66, 3) if seed not in {3, 9, 12, 45}]  # in which nothing fits
WEIGHTS = {"response_time": 0.4, "availability": 0.2, "cost": 0.4}
JOINT = range(6)
LOADS = 6
"""Loads of a partial column of a joint problem: three nodes, two resources."""


def charged(problem: Problem) -> Problem:
    """Return the problem with nodes that are paid once."""
    objective = Objective(WEIGHTS, cost_model="per-node")
    return Problem(problem.application, problem.network, objective, constraints=problem.constraints)


def worths(problem: Problem, placements: FeasiblePlacements) -> Worths:
    """Return F and placement of all feasible placements, best first."""
    every = [(evaluate(problem, each).objective, each) for each in placements(problem)]
    return sorted(every, key=lambda one: one[0])


def parts_at_last(said: list[PartsNews]) -> list[Part]:
    """The parts that are not to be cut further."""
    return [news.part for news in said if news.part is not None and not news.part.to_cut]


def cut_up(problem: Problem, form: ClassForm, every: Worths, limit: float) -> list[PartsNews]:
    """Cut on and on, check that nothing better is lost and what was found is so good; return the news."""
    said: list[PartsNews] = []
    first, least = limit, np.inf
    orders = [PartsOrder(form, form.slots > 0, limit)]
    while orders:
        now: list[PartsNews] = []
        cut(replace(orders.pop(0), limit=limit), NEVER, now.append)
        assert now[-1].bound == np.inf, "the end is said"
        uncut = -np.inf
        for news in now:
            if news.found is not None:
                placement = form.placement_at(news.found)
                assert evaluate(problem, placement).objective == pytest.approx(news.limit, abs=1e-9)
                assert news.limit < first
                limit = news.limit
            else:
                uncut = news.bound
            if news.part is not None:
                least = min(least, news.part.bound)
            assert min(limit, least, uncut) <= every[0][0] + SOLVER_TOLERANCE, "what is known is not too high"
        orders += [
            PartsOrder(form, part.places, limit, part.in_use, part.spent)
            for part in (news.part for news in now)
            if part is not None and part.to_cut
        ]
        said += now
    cut_off = parts_at_last(said)
    for worth, placement in every:
        if worth >= limit - SOLVER_TOLERANCE:
            break
        there = np.array([np.bincount(placement[each], minlength=form.n_nodes) > 0 for each in form.classes])
        home = [
            part
            for part in cut_off
            if not (there & ~part.places).any() and set(part.in_use) <= set(placement.tolist())
        ]
        assert home, placement
        assert min(part.bound for part in home) <= worth + SOLVER_TOLERANCE
    return said


@pytest.mark.parametrize("seed", SEEDS)
def test_every_better_placement_is_in_a_part_or_no_better_than_what_was_found(
    seed: int, any_problem: AnyProblem, feasible_placements: FeasiblePlacements
) -> None:
    problem = charged(any_problem(seed, 5, 4))
    every = worths(problem, feasible_placements)
    cut_up(problem, class_form(problem), every, every[len(every) // 3][0])


@pytest.mark.parametrize("seed", SEEDS)
def test_without_columns_every_better_placement_is_in_a_part(
    seed: int,
    any_problem: AnyProblem,
    feasible_placements: FeasiblePlacements,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "has_columns", lambda _: False)
    problem = charged(any_problem(seed, 5, 4))
    every = worths(problem, feasible_placements)
    said = cut_up(problem, class_form(problem), every, every[len(every) // 3][0])
    assert all(news.found is None for news in said)


@pytest.mark.parametrize("seed", JOINT)
@pytest.mark.parametrize("most", [1, 5, 20_000])
@pytest.mark.parametrize("apart", [(6, 2), (1, 0)])
def test_columns_find_the_best_however_often_parts_are_halved_or_given_to_others(
    seed: int,
    most: int,
    apart: tuple[int, int],
    feasible_placements: FeasiblePlacements,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "APART_EVERY", apart[0])
    monkeypatch.setattr(parts, "KEPT", apart[1])
    monkeypatch.setattr(parts, "MOST_COLUMNS", most)
    monkeypatch.setattr(parts, "MOST_LOADS_AT_LAST", LOADS * most)
    problem = joint_problem(seed)
    every = worths(problem, feasible_placements)
    said = cut_up(problem, class_form(problem), every, every[len(every) // 3][0])
    assert not parts_at_last(said)
    assert apart == (6, 2) or most > 1 or any(news.part is not None for news in said)
    assert min(news.limit for news in said) == pytest.approx(every[0][0], abs=SOLVER_TOLERANCE)


@pytest.mark.parametrize("seed", JOINT)
@pytest.mark.parametrize("relaxations", [0, 1, 2, 5])
def test_what_is_not_halved_any_more_is_a_part(
    seed: int, relaxations: int, feasible_placements: FeasiblePlacements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_COLUMNS", 1)
    monkeypatch.setattr(parts, "MOST_LOADS_AT_LAST", 1)
    monkeypatch.setattr(parts, "MOST_RELAXATIONS", relaxations)
    problem = joint_problem(seed)
    every = worths(problem, feasible_placements)
    said = cut_up(problem, class_form(problem), every, every[-1][0])
    assert relaxations > 0 or any(news.part is not None for news in said)


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_prove_what_all_placements_say(
    seed: int, any_problem: AnyProblem, feasible_placements: FeasiblePlacements
) -> None:
    problem = charged(any_problem(seed, 5, 4))
    every = worths(problem, feasible_placements)
    form = class_form(problem)
    incumbent = Incumbent(problem, lambda _: None)
    incumbent.offer(every[-1][1], "worst")
    context = Context(np.random.default_rng(seed), NEVER, children=INLINE)
    assert is_cut(form)
    if not problem.rules:
        assert search_by_solver(form, form.slots > 0, incumbent, context, NEVER)
    assert incumbent.objective == pytest.approx(every[0][0], abs=2 * SOLVER_TOLERANCE)
    assert incumbent.bound <= every[0][0]


@pytest.mark.parametrize("seed", JOINT)
@pytest.mark.parametrize("relaxations", [1, 300])
def test_columns_and_the_solver_prove_what_all_placements_say(
    seed: int, relaxations: int, feasible_placements: FeasiblePlacements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_COLUMNS", 1)
    monkeypatch.setattr(parts, "MOST_LOADS_AT_LAST", 5 * LOADS)
    monkeypatch.setattr(parts, "MOST_RELAXATIONS", relaxations)
    problem = joint_problem(seed)
    every = worths(problem, feasible_placements)
    form, incumbent = class_form(problem), Incumbent(problem, lambda _: None)
    incumbent.offer(every[-1][1], "worst")
    context = Context(np.random.default_rng(seed), NEVER, children=INLINE)
    assert search_by_solver(form, form.slots > 0, incumbent, context, NEVER)
    assert incumbent.objective == pytest.approx(every[0][0], abs=2 * SOLVER_TOLERANCE)
    assert incumbent.bound <= every[0][0]
