"""Cutting a program into parts loses nothing: each better placement is in a part, whose bound is below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import SOLVER_TOLERANCE
from scheduler.exact.solver.by_parts import is_cut
from scheduler.exact.solver.by_solver import search_by_solver
from scheduler.exact.solver.parts import PartsNews, PartsOrder, cut
from scheduler.model.objective import Objective
from scheduler.model.problem import Problem

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from tests.scheduler.conftest import FeasiblePlacements
    from tests.scheduler.small_problems import AnyProblem

NEVER = Deadline.none()
SEEDS = [seed for seed in range(0, 66, 3) if seed not in {3, 9, 12, 45}]  # in which nothing fits
WEIGHTS = {"response_time": 0.4, "availability": 0.2, "cost": 0.4}


def charged(problem: Problem) -> Problem:
    """Return the problem with nodes that are paid once."""
    objective = Objective(WEIGHTS, cost_model="per-node")
    return Problem(problem.application, problem.network, objective, constraints=problem.constraints)


def worths(problem: Problem, placements: FeasiblePlacements) -> list[tuple[float, IntArray]]:
    """Return F and placement of all feasible placements, best first."""
    every = [(evaluate(problem, each).objective, each) for each in placements(problem)]
    return sorted(every, key=lambda one: one[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_every_better_placement_is_in_a_part(
    seed: int, any_problem: AnyProblem, feasible_placements: FeasiblePlacements
) -> None:
    problem = charged(any_problem(seed, 5, 4))
    every = worths(problem, feasible_placements)
    form, limit = class_form(problem), every[len(every) // 3][0]
    said: list[PartsNews] = []
    cut(PartsOrder(form, form.slots > 0, limit), NEVER, said.append)
    parts = [news.part for news in said if news.part is not None]
    assert said[-1].bound == np.inf, "the end is said"
    for worth, placement in every:
        if worth >= limit - SOLVER_TOLERANCE:
            break
        there = np.array([np.bincount(placement[each], minlength=4) > 0 for each in form.classes])
        home = [
            part
            for part in parts
            if not (there & ~part.places).any() and set(part.in_use) <= set(placement.tolist())
        ]
        assert home, placement
        assert min(part.bound for part in home) <= worth + SOLVER_TOLERANCE


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
