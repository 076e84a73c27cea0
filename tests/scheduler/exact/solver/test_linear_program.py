"""Bounds of relaxations follow from prices of rows alone: a wrong solver makes them low, never high."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.linear_program import LinearProgram
from scheduler.exact.solver.program import SCALE, placement_program
from scheduler.exact.solver.solvers import SolverRequest, run_highs

if TYPE_CHECKING:
    from ortools.math_opt.model_pb2 import ModelProto

    from tests.scheduler.small_problems import AnyProblem

NEVER = Deadline.none()
SEEDS = range(0, 40, 4)


def relaxed(model: ModelProto) -> ModelProto:
    """Return the linear relaxation of a program."""
    model = deepcopy(model)
    model.variables.integers[:] = [False] * len(model.variables.ids)
    return model


def optimum(model: ModelProto) -> float:
    """Return the optimum of a linear program by HiGHS."""
    job = INLINE.start(run_highs, SolverRequest(model, np.zeros(0, dtype=np.int64)), NEVER)
    (answer,) = job.messages()
    return float("inf") if answer.status == "infeasible" else answer.bound


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_the_optimum_also_after_changes_of_bounds(seed: int, any_problem: AnyProblem) -> None:
    form = class_form(any_problem(seed, 6, 4))
    program = placement_program(form, form.slots > 0, SCALE)
    model, random = relaxed(program.model), np.random.default_rng(seed)
    linear = LinearProgram(deepcopy(model))
    for _ in range(4):
        answer = linear.solve(NEVER)
        assert answer is not None
        least = optimum(model)
        assert answer.bound == pytest.approx(least, rel=1e-6, abs=1e-6)
        assert answer.bound <= least + 1e-6
        column = int(random.choice(program.wanted))
        low = float(random.integers(2)) * model.variables.upper_bounds[column]
        linear.limit(column, low, low)
        model.variables.lower_bounds[column] = model.variables.upper_bounds[column] = low


@pytest.mark.parametrize("seed", SEEDS)
def test_any_prices_prove_a_bound_that_is_not_too_high(seed: int, any_problem: AnyProblem) -> None:
    form = class_form(any_problem(seed, 6, 4))
    program = placement_program(form, form.slots > 0, SCALE)
    least = optimum(relaxed(program.model))
    linear = LinearProgram(program.model)
    random = np.random.default_rng(seed)
    for spread in (0.0, 0.01, 1.0, 100.0):
        bound, _ = linear.proved(random.normal(0.0, spread, len(program.model.linear_constraints.ids)))
        assert bound <= least + 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_reduced_costs_say_what_a_variable_off_its_bound_costs_at_least(
    seed: int, any_problem: AnyProblem
) -> None:
    form = class_form(any_problem(seed, 6, 4))
    program = placement_program(form, form.slots > 0, SCALE)
    model = relaxed(program.model)
    linear = LinearProgram(program.model)
    answer = linear.solve(NEVER)
    assert answer is not None
    for column in np.random.default_rng(seed).permutation(program.wanted)[:6].tolist():
        cost, high = float(answer.costs[column]), model.variables.upper_bounds[column]
        there = deepcopy(model)
        there.variables.lower_bounds[column] = there.variables.upper_bounds[column] = (
            high if cost > 0 else 0.0
        )
        assert optimum(there) >= answer.bound + abs(cost) * high - 1e-6


def test_a_deadline_that_is_over_gives_nothing(any_problem: AnyProblem) -> None:
    form = class_form(any_problem(1, 6, 4))
    linear = LinearProgram(placement_program(form, form.slots > 0, SCALE).model)
    assert linear.solve(Deadline(lambda: 1.0, 1.0)) is None
