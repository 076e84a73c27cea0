"""A search in parts claims no more than what the child that cuts has said, and what the core has checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.by_parts import search_by_parts
from scheduler.exact.solver.parts import Part, PartsNews
from tests.scheduler.exact.columns.joint_problems import joint_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements

NEVER = Deadline.none()


@dataclass
class Scripted:
    """A child that has said something and goes on, or has ended."""

    said: list[PartsNews]
    ended: bool
    failure: str | None = None

    def messages(self) -> list[Any]:
        said, self.said = self.said, []
        return said

    def wait(self, _seconds: float) -> bool:
        return True

    def stop(self) -> None:
        self.ended = True


@dataclass
class Script:
    """Children that say what is written, one after the other."""

    jobs: list[Scripted] = field(default_factory=list)

    def start(self, _work: object, _argument: object, _deadline: Deadline) -> Scripted:
        return self.jobs.pop(0)


@pytest.fixture
def problem() -> Problem:
    return joint_problem(3)


@pytest.fixture
def by_worth(problem: Problem, feasible_placements: FeasiblePlacements) -> list[IntArray]:
    """All placements, best first."""
    return sorted(feasible_placements(problem), key=lambda each: evaluate(problem, each).objective)


def search(
    problem: Problem, known: Incumbent, script: Script, meanwhile: Callable[[], object]
) -> float | None:
    """Search with the children of a script, and something found meanwhile."""
    form = class_form(problem)
    context = Context(np.random.default_rng(0), NEVER, children=script)
    return search_by_parts(form, form.slots > 0, known, context, NEVER, meanwhile=lambda _: meanwhile())


def test_parts_that_are_dropped_to_cut_anew_count_until_they_are_cut_again(
    problem: Problem, by_worth: list[IntArray]
) -> None:
    known = Incumbent(problem, lambda _: None)
    known.offer(by_worth[-1], "worst")
    best, worst = evaluate(problem, by_worth[0]).objective, known.objective
    part = Part(best, class_form(problem).slots > 0)
    first = Scripted([PartsNews(best, part), PartsNews(worst - 1e-6)], ended=False)
    script = Script([first, Scripted([], ended=True, failure="it was killed")])
    assert search(problem, known, script, lambda: known.offer(by_worth[len(by_worth) // 2], "longer")) is None
    assert not script.jobs, "it began anew"
    assert known.bound <= best


def test_what_the_core_does_not_take_proves_nothing_above_it(
    problem: Problem, by_worth: list[IntArray]
) -> None:
    known = Incumbent(problem, lambda _: None)
    known.offer(by_worth[-1], "worst")
    wrong = np.zeros(problem.n_ops, dtype=np.int64)
    limit = evaluate(problem, by_worth[0]).objective - 0.01
    news = [PartsNews(-math.inf, found=wrong, limit=limit), PartsNews(math.inf)]
    least = search(problem, known, Script([Scripted(news, ended=True)]), lambda: None)
    assert known.placement is by_worth[-1]
    assert least is not None
    assert least <= limit
    assert known.bound <= limit


def given_away(
    problem: Problem, by_worth: list[IntArray], second: Scripted
) -> tuple[float | None, Incumbent]:
    """What is proved if a child gives everything away, and a second one gets that; what is known then."""
    known = Incumbent(problem, lambda _: None)
    known.offer(by_worth[-1], "worst")
    best = evaluate(problem, by_worth[0]).objective
    part = Part(best, class_form(problem).slots > 0, to_cut=True)
    script = Script([Scripted([PartsNews(math.inf, part)], ended=True), second])
    least = search(problem, known, script, lambda: None)
    assert not script.jobs, "the second has begun"
    return least, known


def test_another_child_cuts_what_one_gives_away(problem: Problem, by_worth: list[IntArray]) -> None:
    form, best = class_form(problem), evaluate(problem, by_worth[0]).objective
    at = by_worth[0][np.concatenate(form.classes)]
    news = [PartsNews(-math.inf, found=at, limit=best), PartsNews(math.inf)]
    least, known = given_away(problem, by_worth, Scripted(news, ended=True))
    assert known.objective == pytest.approx(best)
    assert least == pytest.approx(best)


def test_what_was_given_away_and_not_cut_keeps_its_bound(problem: Problem, by_worth: list[IntArray]) -> None:
    least, known = given_away(problem, by_worth, Scripted([], ended=True, failure="it was killed"))
    assert least is None
    assert known.bound <= evaluate(problem, by_worth[0]).objective
    # a deadline that comes first is no failure; then what is known is all that there is
    least, known = given_away(problem, by_worth, Scripted([], ended=True))
    assert least is not None
    assert least <= evaluate(problem, by_worth[0]).objective
