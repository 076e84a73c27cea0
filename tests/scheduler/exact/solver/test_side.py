"""Rows of rules in the program: with all places fixed it has a solution where the sums say so."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Context
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import ask
from scheduler.exact.solver.program import placement_program
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links
from scheduler.model.problem import Application, Stream

if TYPE_CHECKING:
    from scheduler.exact.solver.program import Program
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem

NEVER = Deadline.none()


@dataclass(frozen=True, eq=False)
class LinkRows(Constraint):
    """Two rows that streams charge by the groups of both ends, differently there and back."""

    kind: ClassVar[str] = "link_rows"
    seed: int

    def rule(self, problem: Problem, where: str) -> LinearRule:  # noqa: ARG002  # names nothing
        random = np.random.default_rng(self.seed)
        weight = random.integers(0, 4, len(problem.application.streams)).astype(np.float64)
        charges = Charges(
            random.integers(0, 2, (1, 2, 2)), random.integers(0, 6, (1, 2, 2)).astype(np.float64)
        )
        places = Charges(
            np.ones((1, 3, 3), dtype=np.int64), random.integers(-2, 3, (1, 3, 3)).astype(np.float64)
        )
        links = Links(weight, np.array([0, 1, 0]), charges)
        rows = LinearRows(random.integers(4, 20, 2).astype(np.float64), places, links)
        return LinearRule(self.kind, problem, rows, ("first", "second"), "units")


def fixed(program: Program, placement: tuple[int, ...]) -> Program:
    """Return the program with every operator's place given, and the links left to the rows."""
    model = deepcopy(program.model)
    for columns, u in zip(program.count_columns, placement, strict=True):
        for node, _, variable in columns.tolist():
            model.variables.lower_bounds[variable] = model.variables.upper_bounds[variable] = float(node == u)
    return replace(program, model=model)


@pytest.mark.parametrize("seed", [1, 2, 3, 5])  # of which some placements meet the rows and some do not
def test_a_fixed_placement_solves_the_program_if_it_meets_the_rows(
    make_problem: MakeProblem, seed: int
) -> None:
    """Streams there and back, several between the same two operators, and one to itself."""
    problem = make_problem(seed, 3, 3, slots=3, pins=False)
    back = [Stream(f"o{i}", f"o{j}", critical=False) for i, j in ((2, 0), (1, 0), (1, 0), (2, 2), (0, 1))]
    application = Application(problem.application.operators, (*problem.application.streams, *back))
    problem = replace(problem, application=application, constraints=(LinkRows(seed),))
    form = class_form(problem)
    program = placement_program(form, form.slots > 0)
    context = Context(np.random.default_rng(0), NEVER)
    outcomes = set()
    for placement in product(range(3), repeat=3):
        answer = ask(fixed(program, placement), context, NEVER)
        met = bool(problem.rules.met(np.array(placement)[:, None])[0])

        assert answer is not None
        assert answer.status == ("optimal" if met else "infeasible")
        outcomes.add(met)
    assert outcomes == {False, True}
