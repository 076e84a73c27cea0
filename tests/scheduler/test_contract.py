"""What every registered strategy promises; a new one is covered by being registered."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.registry import STRATEGIES, anywhere

if TYPE_CHECKING:
    from scheduler.contract.result import Result
    from tests.scheduler.conftest import (
        FeasiblePlacements,
        Independent,
        KeepsRules,
        MakeProblem,
        RichProblem,
    )

every_strategy = pytest.mark.parametrize("strategy", anywhere())
NEVER_WORSE = [name for name, entry in STRATEGIES.items() if entry.never_worse_than_greedy]
EPSILON = 2e-9
"""F is compared in steps of 1e-9."""
EXPIRED = Deadline(clock=lambda: 1.0, at=0.0)


def over_after(looks: int) -> Deadline:
    """A deadline that is over after some looks at its clock, each of them a hundredth of a second apart."""
    return Deadline(clock=(look / 100 for look in count()).__next__, at=looks / 100)


@cache
def planned(make_problem: MakeProblem, strategy: str, seed: int, *, pins: bool) -> tuple[Problem, Result]:
    """A problem of seven operators and its plan by default parameters, made once for all promises."""
    problem = make_problem(seed, 7, 8, pins=pins)
    return problem, plan(problem, strategy)


@cache
def least(make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int) -> float:
    """F of the best of all placements of a small problem, the same for every strategy."""
    problem = make_problem(seed, 5, 4)
    return min(evaluate(problem, placement).objective for placement in feasible_placements(problem))


@cache
def ruled_worth(
    ruled_problem: RichProblem, feasible_placements: FeasiblePlacements, seed: int
) -> dict[tuple[int, ...], float]:
    """F of every feasible placement of a small problem with rules."""
    problem = ruled_problem(seed, 3 + seed % 3, 4)
    return {tuple(each.tolist()): evaluate(problem, each).objective for each in feasible_placements(problem)}


@every_strategy
@given(seed=st.integers(0, 10_000), n_ops=st.integers(1, 8))
@settings(max_examples=12)
def test_plans_are_feasible_and_their_worth_is_true(
    make_problem: MakeProblem, independent: type[Independent], strategy: str, seed: int, n_ops: int
) -> None:
    """Every constraint holds, pins included, and the metrics equal an independent computation."""
    problem = make_problem(seed, n_ops, 4 + seed % 6, pins=seed % 3 > 0)
    result = plan(problem, strategy)

    assert result.placement is not None
    assert check(problem, result.placement) == ()
    assert result.evaluation is not None
    expected = independent.of(problem, result.placement)
    assert result.evaluation.response_time_ms == pytest.approx(expected.response_time_ms)
    assert result.evaluation.values["availability"] == pytest.approx(expected.availability)
    assert result.evaluation.values["network_usage"] == pytest.approx(expected.network_usage_bytes)
    assert result.bound is None or result.bound <= result.evaluation.objective + EPSILON


@every_strategy
@pytest.mark.parametrize("seed", range(12))
def test_problems_with_everything_in_them_are_solved_too(
    rich_problem: RichProblem,
    feasible_placements: FeasiblePlacements,
    independent: type[Independent],
    strategy: str,
    seed: int,
) -> None:
    """Several resources, prices, limits on co-location and five metrics at once."""
    problem = rich_problem(seed, 2 + seed % 4, 4)
    result = plan(problem, strategy)

    if result.placement is None:
        assert next(feasible_placements(problem), None) is None or "not proved" in result.reason
        return
    assert check(problem, result.placement) == ()
    assert result.evaluation is not None
    expected = independent.of(problem, result.placement)
    assert result.evaluation.response_time_ms == pytest.approx(expected.response_time_ms)
    values = result.evaluation.values
    assert values["inter_node_traffic"] == pytest.approx(expected.inter_node_traffic_bytes_s)
    assert values["cost"] == pytest.approx(expected.cost)
    assert result.evaluation.mean_delay_ms == pytest.approx(expected.mean_delay_ms)


@every_strategy
def test_response_times_on_a_hundred_nodes_agree_with_path_enumeration(
    make_problem: MakeProblem, independent: type[Independent], strategy: str
) -> None:
    """Twelve operators, a hundred nodes: R equals the longest of all paths, enumerated one by one."""
    problem = make_problem(3, 12, 100)
    result = plan(problem, strategy, deadline=over_after(10))

    assert result.placement is not None
    assert result.evaluation is not None
    expected = independent.of(problem, result.placement)
    assert result.evaluation.response_time_ms == pytest.approx(expected.response_time_ms, rel=1e-12)


@every_strategy
@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_plan(make_problem: MakeProblem, strategy: str, seed: int) -> None:
    """Nothing but problem, parameters and seed decides."""

    def drawn() -> Result:
        return plan(make_problem(seed, 7, 8), strategy, seed=seed)

    first = planned(make_problem, strategy, 0, pins=True)[1] if seed == 0 else drawn()
    second = drawn()

    assert first.placement is not None
    assert second.placement is not None
    assert first.placement.tolist() == second.placement.tolist()
    assert first.evaluation == second.evaluation


@every_strategy
@pytest.mark.parametrize("seed", range(4))
def test_planning_on_the_result_of_a_plan_moves_nothing(
    make_problem: MakeProblem, strategy: str, seed: int
) -> None:
    """With the result as the current placement, whether or not it is the start, the plan is the same."""
    problem, default = planned(make_problem, strategy, seed, pins=True)
    entry = STRATEGIES[strategy]
    names = {field.name for field in dataclasses.fields(entry.parameters())}
    plans = [(entry.parameters(), default)]
    if "start" in names:
        onward = entry.parameters(start="current")
        plans.append((onward, plan(problem, strategy, onward)))
    for parameters, first in plans:
        again = Problem(problem.application, problem.network, problem.objective, first.placement)
        second = plan(again, strategy, parameters)

        assert first.placement is not None
        assert second.placement is not None
        assert first.placement.tolist() == second.placement.tolist()


@pytest.mark.parametrize("strategy", NEVER_WORSE)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pins", [False, True])
def test_strategies_that_promise_it_are_never_worse_than_greedy(
    make_problem: MakeProblem, strategy: str, seed: int, *, pins: bool
) -> None:
    """Under every kind of weights, with and without pins."""
    _, greedy = planned(make_problem, "greedy", seed, pins=pins)
    _, result = planned(make_problem, strategy, seed, pins=pins)

    assert greedy.evaluation is not None
    assert result.evaluation is not None
    assert result.evaluation.objective <= greedy.evaluation.objective + EPSILON


@every_strategy
@pytest.mark.parametrize("seed", range(8))
def test_rules_are_kept_and_exact_strategies_prove_their_optimum(
    ruled_problem: RichProblem, feasible_placements: FeasiblePlacements, strategy: str, seed: int
) -> None:
    """Bandwidth, budgets and shared nodes: nothing is below the best of all placements that meet them.

    Without a clock too, and however few there are: a strategy finds one or says what it did not prove.
    """
    problem = ruled_problem(seed, 3 + seed % 3, 4)
    worth = ruled_worth(ruled_problem, feasible_placements, seed)
    result = plan(problem, strategy)

    if result.placement is None:
        assert not worth or "not proved" in result.reason
        return
    assert tuple(result.placement.tolist()) in worth
    assert result.evaluation is not None
    best = min(worth.values())
    assert result.evaluation.objective >= best - EPSILON
    assert result.bound is None or result.bound <= best + EPSILON
    if STRATEGIES[strategy].exact:
        assert result.status == "optimal"
    if result.status == "optimal":
        # a solver's proof has the solver's tolerance
        assert result.evaluation.objective == pytest.approx(best, abs=1e-6)


@every_strategy
@pytest.mark.parametrize("seed", range(2))
def test_rules_are_kept_on_larger_problems(
    ruled_problem: RichProblem, keeps_rules: KeepsRules, strategy: str, seed: int
) -> None:
    """Twelve operators on a dozen nodes, with little time."""
    problem = ruled_problem(seed, 12, 12)
    result = plan(problem, strategy, deadline=over_after(20))

    assert result.placement is not None
    assert keeps_rules(problem, result.placement)
    assert check(problem, result.placement) == ()


@every_strategy
@pytest.mark.parametrize("seed", range(6))
def test_no_strategy_beats_the_optimum(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, strategy: str, seed: int
) -> None:
    """On small problems nothing is below the best feasible placement, and optimal means equal to it."""
    problem = make_problem(seed, 5, 4)
    best = least(make_problem, feasible_placements, seed)
    result = plan(problem, strategy)

    assert result.evaluation is not None
    assert result.evaluation.objective >= best - EPSILON
    if result.status == "optimal":
        assert result.evaluation.objective <= best + EPSILON


@every_strategy
def test_an_expired_deadline_still_gives_a_feasible_plan(hundred_nodes: Problem, strategy: str) -> None:
    """Some placement is at hand at any moment."""
    result = plan(hundred_nodes, strategy, deadline=EXPIRED)

    assert result.placement is not None
    assert check(hundred_nodes, result.placement) == ()


@every_strategy
def test_what_cannot_be_placed_is_reported_with_the_reason(strategy: str) -> None:
    """Infeasible is a status, not an exception, and names the operators and what is short."""
    operators = tuple(Operator(name) for name in "abc")
    nodes = (Node("x", {"slots": 1}), Node("y", {"slots": 1}))
    problem = Problem(Application(operators, (Stream("a", "b"),)), Network(nodes, np.zeros((2, 2))))
    result = plan(problem, strategy)

    assert (result.status, result.placement, result.evaluation) == ("infeasible", None, None)
    assert result.reason == "operators a, b, c demand 3 slots, all nodes together have 2 (1 short)"


@every_strategy
def test_a_feasible_placement_that_first_fit_misses_is_found(strategy: str) -> None:
    """The sink's only node must be left free by the operators before it."""
    operators = (
        Operator("a"),
        Operator("b"),
        Operator("sink", allowed=("x", "y")),
        Operator("end", allowed=("y",)),
    )
    nodes = tuple(Node(name, {"slots": 1}) for name in "xyzw")
    streams = (Stream("a", "b"), Stream("b", "sink"), Stream("sink", "end"))
    problem = Problem(Application(operators, streams), Network(nodes, 1.0 - np.eye(4)))
    result = plan(problem, strategy)

    assert result.placement is not None
    assert result.placement[2:].tolist() == [0, 1]


@every_strategy
def test_the_smallest_problem_is_solved(strategy: str) -> None:
    """One operator without streams on one node."""
    problem = Problem(
        Application((Operator("a", 3.0),)), Network((Node("x", {"slots": 1}),), np.zeros((1, 1)))
    )
    result = plan(problem, strategy)

    assert result.placement is not None
    assert result.evaluation is not None
    assert result.placement.tolist() == [0]
    assert (result.evaluation.objective, result.evaluation.response_time_ms) == (0.0, 3.0)
