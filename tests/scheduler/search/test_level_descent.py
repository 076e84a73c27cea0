from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.plan import plan
from scheduler.search.level_descent import descend

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem, RichProblem
    from tests.scheduler.large_problems import MakeLarge


@pytest.mark.parametrize("seed", range(3))
def test_descent_improves_greedy_on_a_large_network(make_large: MakeLarge, seed: int) -> None:
    """It keeps all constraints, ends by itself, and finds what greedy, blind to streams, does not see."""
    problem = make_large(seed, 60, 1500)
    start = plan(problem, "greedy").placement
    assert start is not None
    found = descend(problem, start, Deadline.none())

    assert check(problem, found) == ()
    assert evaluate(problem, found).rank < evaluate(problem, start).rank
    assert np.array_equal(found, descend(problem, start, Deadline.none()))


@pytest.mark.parametrize("seed", range(6))
def test_descent_never_makes_it_worse(make_problem: MakeProblem, seed: int) -> None:
    """Whatever the weights, on nodes of one or two slots, where operators can only trade places."""
    problem = make_problem(seed, 10, 6, slots=1 + seed % 2) if seed % 2 else make_problem(seed, 6, 6, slots=1)
    start = plan(problem, "greedy").placement
    assert start is not None
    found = descend(problem, start, Deadline.none())

    assert check(problem, found) == ()
    assert evaluate(problem, found).rank <= evaluate(problem, start).rank


def test_an_expired_deadline_returns_the_start(make_large: MakeLarge) -> None:
    """Nothing is looked at any more."""
    problem = make_large(0, 20, 40)
    start = plan(problem, "greedy").placement
    assert start is not None

    assert descend(problem, start, Deadline(clock=lambda: 1.0, at=0.0)) is start


@pytest.mark.parametrize("seed", range(8))
def test_descent_keeps_rules(ruled_problem: RichProblem, seed: int) -> None:
    """Moves that keep them one by one may break them together."""
    problem = ruled_problem(seed, 10, 8)
    start = plan(problem, "greedy-no-penalty").placement
    assert start is not None
    found = descend(problem, start, Deadline.none())

    assert check(problem, found) == ()
    assert evaluate(problem, found).rank <= evaluate(problem, start).rank
