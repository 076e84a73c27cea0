"""Tables over all links are given up as soon as the deadline comes, and nothing that was known is lost."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.base.work import OutOfTimeError
from scheduler.contract.strategy import Context, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.branch.partial_paths import PartialPaths
from scheduler.exact.branch.relaxed_form import RelaxedForm
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solve import solve_exact
from scheduler.exact.solver.program import link_variables, placement_program
from scheduler.search.searched_start import first_placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem

OPERATORS = 9


def restricted(problem: Problem, deadline: Deadline) -> None:
    form = class_form(problem)
    nodes = np.arange(form.n_nodes - 1)
    RelaxedForm(form, form.slots > 0).restricted(nodes, form.slots[:, nodes] > 0, deadline)


def relaxed(problem: Problem, deadline: Deadline) -> None:
    form = class_form(problem)
    RelaxedForm(form, form.slots > 0, deadline)


def paths(problem: Problem, deadline: Deadline) -> None:
    form = class_form(problem)
    PartialPaths(form, form.slots, deadline)


def program(problem: Problem, deadline: Deadline) -> None:
    form = class_form(problem)
    placement_program(form, form.slots > 0, deadline=deadline)


@pytest.mark.parametrize("build", [class_form, restricted, relaxed, paths, program])
def test_the_deadline_is_looked_at_for_every_part_of_a_table(
    make_problem: MakeProblem, build: Callable[[Problem, Deadline], object]
) -> None:
    """At whichever of these looks it has expired, nothing more is built."""
    problem = make_problem(3, OPERATORS, 6)
    for looks in itertools.count():
        ticks = itertools.count()
        try:
            build(problem, Deadline(lambda ticks=ticks: float(next(ticks)), at=looks))
        except OutOfTimeError:
            assert next(ticks) == looks + 1
        else:
            break
    assert looks >= OPERATORS


def test_a_deadline_while_tables_are_built_leaves_the_start(make_problem: MakeProblem) -> None:
    """With the reason, at every moment, and with a bound that is true."""
    problem = make_problem(3, OPERATORS, 6)
    start = first_placement(problem, Context(np.random.default_rng(0), Deadline.none())).placement
    assert start is not None
    least = evaluate(problem, start).objective
    for looks in range(40):
        ticks = itertools.count()
        deadline = Deadline(lambda ticks=ticks: float(next(ticks)), at=looks)
        found = solve_exact(problem, Suggestion(start, "given"), Context(np.random.default_rng(0), deadline))

        assert found.placement is not None
        value = evaluate(problem, found.placement).objective
        assert value <= least
        assert found.bound is None or found.bound <= value
        assert found.proved or "deadline" in found.reason or "solver" in found.reason


def test_the_size_of_a_program_is_known_before_it_is_built(make_problem: MakeProblem) -> None:
    """The estimate counts the link variables, which are most of them."""
    form = class_form(make_problem(3, OPERATORS, 12))
    open_places = form.slots > 0
    variables = len(placement_program(form, open_places).model.variables.ids)

    assert 0.8 * variables <= link_variables(form, open_places) <= variables
