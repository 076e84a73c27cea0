"""The longest response time of all placements: every path is looked at, with all constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.extremes.longest_paths import TurnedProblem, solve_longest_response
from scheduler.model.problem import (
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)
from scheduler.optimal_ranges import optimal_ranges

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements, RichProblem


def context() -> Context:
    return Context(np.random.default_rng(0), Deadline.none())


def test_without_room_for_tables_nothing_is_proved_of_the_longest_path(
    rich_problem: RichProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The computed bound stays."""
    problem = rich_problem(0, 4, 3)
    monkeypatch.setattr("scheduler.exact.extremes.longest_paths.LARGEST_FORM", 1)
    found = optimal_ranges(problem, context())["response_time"]

    assert not found.high_proved
    assert found.high == problem.ranges["response_time"][1]


def test_the_anti_optimum_of_response_time_looks_at_every_path() -> None:
    """The path with most operators is not the longest: c has to leave x, where a and b fit."""
    operators = (
        Operator("a", 1.0, allowed=("x",)),
        Operator("b", 1.0, allowed=("x",)),
        Operator("c", 1.0, allowed=("x", "y")),
        Operator("d", 1.0, allowed=("y",)),
    )
    streams = (Stream("a", "b"), Stream("b", "c"), Stream("a", "d"))
    network = Network((Node("x", {"slots": 2}), Node("y", {"slots": 2})), np.array([[0.0, 7.0], [9.0, 0.0]]))
    found = optimal_ranges(Problem(Application(operators, streams), network), context())["response_time"]

    assert (found.low, found.high) == (10.0, 10.0)
    assert found.range is None


@pytest.mark.parametrize("start", [None, [1, 0, 0]])
@pytest.mark.parametrize("beside", [(), (Operator("c", 0.0),)])
def test_the_longest_path_keeps_limits_on_co_location(
    start: list[int] | None, beside: tuple[Operator, ...]
) -> None:
    """Both on the slow x would take 16 ms; a start that is as good as the answer would hide that."""
    operators = (Operator("a", 10.0), Operator("b", 6.0), *beside)
    nodes = (Node("x", {"slots": 9}), Node("y", {"slots": 9}, speedup=10.0))
    turned = TurnedProblem(
        Application(operators, (Stream("a", "b"),)),
        Network(nodes, np.array([[0.0, 1.0], [2.0, 0.0]])),
        Objective({"response_time": 1.0}),
        constraints=(CoLocationLimit(("a", "b")),),
    )
    given = None if start is None else np.array(start[: len(operators)])
    exact = solve_longest_response(turned, given, context())

    assert exact.proved
    assert exact.placement is not None
    assert exact.placement[:2].tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(6))
def test_the_longest_response_is_found_from_the_shortest(
    rich_problem: RichProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """The proof looks at every path with all constraints, and does not lean on what local search finds."""
    problem = rich_problem(seed, 5, 3)
    turned = TurnedProblem(
        problem.application,
        problem.network,
        Objective({"response_time": 1.0}),
        constraints=problem.constraints,
    )
    placements = sorted(feasible_placements(turned), key=lambda each: evaluate(turned, each).response_time_ms)
    exact = solve_longest_response(turned, placements[0], context())

    assert exact.proved
    assert exact.placement is not None
    assert evaluate(turned, exact.placement).response_time_ms == pytest.approx(
        evaluate(turned, placements[-1]).response_time_ms
    )


def test_soft_limits_on_durations_close_no_place_on_a_path(feasible_placements: FeasiblePlacements) -> None:
    """An operator that exceeds its limit on the slow node makes the longest path there."""
    operators = tuple(
        Operator(name, 100.0, duration_max_ms=100.0, actual_ms=100.0, actual_speedup=1.0) for name in "abc"
    )
    nodes = (Node("fast", {"slots": 2}), Node("slow", {"slots": 2}, speedup=0.5))
    objective = Objective({"response_time": 1.0}, duration_limit="soft")
    streams = (Stream("a", "b", 1.0, 1.0), Stream("b", "c", 1.0, 1.0))
    network = Network(nodes, np.array([[0.0, 5.0], [5.0, 0.0]]))
    problem = Problem(Application(operators, streams), network, objective)
    longest = max(evaluate(problem, each).values["response_time"] for each in feasible_placements(problem))
    found = solve_longest_response(TurnedProblem(problem.application, network, objective), None, context())
    assert found.proved
    assert found.placement is not None
    assert evaluate(problem, found.placement).values["response_time"] == pytest.approx(longest)
