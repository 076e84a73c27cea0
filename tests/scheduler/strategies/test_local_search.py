from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import UNPLACED, Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.strategies.local_search import LocalSearchParameters

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"start": "here"}, 'start: expected "greedy" or "current", got \'here\''),
        ({"max_rounds": -1}, "max_rounds: expected a whole number >= 0, got -1"),
        ({"max_rounds": 2.5}, "max_rounds: expected a whole number >= 0, got 2.5"),
    ],
)
def test_parameters_are_checked(values: dict[str, object], message: str) -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match=message):
        LocalSearchParameters(**values)  # type: ignore[arg-type]  # bad values on purpose


def neighbours(problem: Problem, placement: IntArray) -> list[IntArray]:
    """Every single move and every relocation of a whole node, feasible or not."""
    moved = []
    for u in range(problem.n_nodes):
        for i in range(problem.n_ops):
            single = placement.copy()
            single[i] = u
            moved.append(single)
        moved += [np.where(placement == v, u, placement) for v in np.unique(placement)]
    return moved


@pytest.mark.parametrize("seed", range(8))
def test_the_result_is_a_local_optimum(make_problem: MakeProblem, seed: int) -> None:
    """No feasible move of an operator or of a node's operators ranks lower."""
    problem = make_problem(seed, 8, 8)
    result = plan(problem)

    assert result.placement is not None
    assert result.evaluation is not None
    assert result.reason == "local optimum: no neighbour is better"
    for neighbour in neighbours(problem, result.placement):
        if not check(problem, neighbour):
            assert evaluate(problem, neighbour).objective >= result.evaluation.objective - 2e-9


def test_it_improves_on_greedy_somewhere(make_problem: MakeProblem) -> None:
    """The search is worth its time: it beats greedy on most of these problems."""
    wins = 0
    for seed in range(10):
        problem = make_problem(seed, 12, 20)
        greedy, found = plan(problem, "greedy").evaluation, plan(problem).evaluation
        assert greedy is not None
        assert found is not None
        wins += found.objective < greedy.objective - 1e-6

    assert wins >= 7


def test_it_finds_the_optimum_of_most_small_problems(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements
) -> None:
    """Against brute force it is never below and mostly equal."""
    equal = 0
    for seed in range(12):
        problem = make_problem(seed, 5, 4)
        best = min(evaluate(problem, placement).objective for placement in feasible_placements(problem))
        found = plan(problem).evaluation
        assert found is not None
        assert found.objective >= best - 2e-9
        equal += found.objective <= best + 2e-9

    assert equal >= 6


def detour(current: list[int] | None) -> Problem:
    """Three operators between two good pairs of nodes; the pairs are far apart and equal."""
    delay = np.array([[0.0, 1, 50, 50], [1, 0, 50, 50], [50, 50, 0, 1], [50, 50, 1, 0]])
    nodes = tuple(Node(f"n{k}", {"slots": 2}) for k in range(4))
    application = Application(
        tuple(Operator(name, 1.0) for name in "abc"), (Stream("a", "b"), Stream("b", "c"))
    )
    return Problem(application, Network(nodes, delay), current=None if current is None else np.array(current))


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ([2, 2, 3], [2, 2, 3]),
        ([2, 3, 3], [2, 3, 3]),
        (None, [0, 0, 1]),
        ([2, 2, UNPLACED], [0, 0, 1]),
        ([2, 2, 2], [0, 0, 1]),
        ([0, 2, 0], [0, 0, 1]),
    ],
)
def test_a_good_current_placement_is_kept_as_the_start(
    current: list[int] | None, expected: list[int]
) -> None:
    """Equal to greedy it stays; incomplete, over-full or worse than greedy it does not count."""
    result = plan(detour(current), parameters=LocalSearchParameters(start="current"))

    assert result.placement is not None
    assert result.placement.tolist() == expected


def test_by_default_the_current_placement_is_ignored() -> None:
    """The paper's start is greedy."""
    result = plan(detour([2, 2, 3]))

    assert result.placement is not None
    assert result.placement.tolist() == [0, 0, 1]


def test_more_time_never_makes_it_worse(hundred_nodes: Problem) -> None:
    """Whenever the deadline falls, the placement is at least as good as with less time."""
    found = [
        plan(hundred_nodes, deadline=Deadline(count().__next__, at=moment)).evaluation for moment in range(25)
    ]
    objectives = [worth.objective for worth in found if worth is not None]

    assert len(objectives) == 25
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] < objectives[0]


def test_no_round_at_all_returns_the_start(hundred_nodes: Problem) -> None:
    """With max_rounds 0 the answer is the greedy one."""
    found, greedy = (
        plan(hundred_nodes, parameters=LocalSearchParameters(max_rounds=0)),
        plan(hundred_nodes, "greedy"),
    )

    assert found.evaluation == greedy.evaluation
    assert found.reason == "0 iterations ended the search"


def test_streams_off_the_critical_path_are_shortened_too() -> None:
    """Where R does not change, the mean delay decides: the acker joins the operators it talks to."""
    operators = (
        Operator("source", 1.0, allowed=("home",)),
        Operator("sink", 1.0, allowed=("far",)),
        Operator("acker", 0.0),
    )
    streams = (Stream("source", "sink"), Stream("sink", "acker", 5.0, critical=False))
    delay = np.array([[0.0, 40, 1], [40, 0, 41], [1, 41, 0]])
    nodes = tuple(Node(name, {"slots": 2}) for name in ("home", "far", "near-home"))
    result = plan(Problem(Application(operators, streams), Network(nodes, delay)))

    assert result.placement is not None
    assert result.placement.tolist() == [0, 1, 1]
