from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Context, Progress
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.plan import plan
from scheduler.search import iterated as module
from scheduler.search.iterated import improve
from scheduler.strategies.ils import ENTRY, IlsParameters

if TYPE_CHECKING:
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"patience": 0}, "patience: expected a whole number >= 1, got 0"),
        ({"patience": True}, "patience: expected a whole number >= 1, got True"),
        ({"walkers": 1}, "walkers: expected a whole number >= 2, got 1"),
        ({"walkers": None}, "walkers: expected a whole number >= 2, got None"),
    ],
)
def test_parameters_are_checked(values: dict[str, object], message: str) -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match=message):
        IlsParameters(**values)  # type: ignore[arg-type]  # bad values on purpose


def test_it_finds_the_optimum_of_small_problems(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements
) -> None:
    """Against brute force, under every kind of weights."""
    for seed in range(8):
        problem = make_problem(seed, 5, 4)
        best = min(evaluate(problem, placement).objective for placement in feasible_placements(problem))
        found = plan(problem, "ils").evaluation
        assert found is not None
        assert found.objective == pytest.approx(best, abs=2e-9)


def test_it_beats_local_search_on_most_problems_and_loses_on_none(make_problem: MakeProblem) -> None:
    """That is what its time is for."""
    wins = 0
    for seed in range(6):
        problem = make_problem(seed, 12, 12)
        local, found = plan(problem).evaluation, plan(problem, "ils", IlsParameters(8, 8)).evaluation
        assert local is not None
        assert found is not None
        assert found.rank <= local.rank
        wins += found.objective < local.objective - 1e-6

    assert wins >= 4


def test_every_improvement_is_reported(hundred_nodes: Problem) -> None:
    """Greedy first, then lower and lower, each with a feasible placement of that worth."""
    reported: list[Progress] = []
    result = plan(hundred_nodes, "ils", IlsParameters(2, 8), report=reported.append)

    assert [reported[0].source, *{news.source for news in reported[1:]}] == ["greedy", "ils"]
    for news in reported:
        assert news.placement is not None
        assert check(hundred_nodes, news.placement) == ()
        assert evaluate(hundred_nodes, news.placement).objective == news.objective
    assert result.evaluation is not None
    objectives = [news.objective for news in reported]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == result.evaluation.objective


def test_a_start_is_never_made_worse(make_problem: MakeProblem) -> None:
    """From an optimum it comes back with one."""
    problem = make_problem(0, 5, 4)
    best = plan(problem, "ils").placement
    assert best is not None
    again = improve(problem, best, Context(np.random.default_rng(9), Deadline.none()), patience=2)

    assert again.placement is not None
    assert evaluate(problem, again.placement).rank <= evaluate(problem, best).rank


@pytest.mark.parametrize("walkable", [0, 3000])
def test_more_time_is_used_and_does_not_hurt(
    hundred_nodes: Problem, monkeypatch: pytest.MonkeyPatch, walkable: int
) -> None:
    """Without limits, by walkers as by kicks, it ends with the deadline and is better for a later one."""
    monkeypatch.setattr(module, "WALKABLE", walkable)
    parameters = ENTRY.until_deadline(IlsParameters(walkers=8))
    results = [
        plan(hundred_nodes, "ils", parameters, deadline=Deadline(count().__next__, at=moment))
        for moment in (1, 20, 400)
    ]
    worth = [result.evaluation.objective for result in results if result.evaluation is not None]

    assert parameters == IlsParameters(None, 8)
    assert {result.reason for result in results} == {"the deadline ended the search"}
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] < worth[0]


@pytest.mark.parametrize("walkable", [0, 3000])
def test_without_patience_and_deadline_one_iteration_is_made(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch, walkable: int
) -> None:
    """A strategy ends by itself."""
    monkeypatch.setattr(module, "WALKABLE", walkable)
    result = plan(make_problem(1, 8, 8), "ils", IlsParameters(patience=None))

    assert result.placement is not None
    assert result.reason == "the limit of work ended the search"
