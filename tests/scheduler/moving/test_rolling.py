"""The rolling horizon: what is announced and forecast decides where to be now."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.model.constraints.move_limit import MoveLimit
from scheduler.moving.horizon import Horizon
from scheduler.moving.neighbours import Neighbours
from scheduler.moving.pool import pool_of
from scheduler.moving.rolling import look_ahead
from scheduler.moving.step_worth import StepWorth
from scheduler.moving.steps import Step, forecast
from scheduler.moving.suggesting import Suggestions
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.instances.generators.replacement import Shape
    from scheduler.model.problem import Problem
    from scheduler.moving.rolling import RollingPlan

CYCLE_S = 240.0
NODES = ("n1", "n2", "n3")


def best(problem: Problem) -> IntArray | None:
    return plan(problem, "odr").placement


def ahead(problem: Problem, steps: list[Step], horizon: Horizon | None = None) -> RollingPlan:
    found = look_ahead(
        problem, forecast(problem, steps), best, Horizon(CYCLE_S) if horizon is None else horizon
    )
    assert found is not None
    return found


def made(seed: int, shape: Shape = "chain", operators: int = 3) -> Problem:
    random = np.random.default_rng(seed)
    return running(replacement(shape, operators, len(NODES), random), random.integers(0, 3, operators))


def weighing(problem: Problem, given_steps: list[Step]) -> StepWorth:
    outlook = forecast(problem, given_steps)
    now = replace(outlook.problems[0], current=problem.current)
    return StepWorth(outlook, now, Horizon(CYCLE_S))


steps = st.builds(
    Step,
    seconds=st.sampled_from([CYCLE_S, 4 * CYCLE_S]),
    rate=st.sampled_from([0.5, 1.0, 2.0]),
    away=st.sampled_from([frozenset[str](), frozenset({"n1"}), frozenset({"n2"})]),
    cost=st.sampled_from([{}, {"n1": 1.0}, {"n3": 30.0}]),
)


@settings(deadline=None, max_examples=12)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["chain", "tree", "dag"]),
    st.lists(steps, min_size=1, max_size=4),
    st.sampled_from([0.0, 0.02]),
)
def test_a_second_plan_on_the_same_forecast_moves_nothing(
    seed: int, shape: Shape, given_steps: list[Step], least_gain: float
) -> None:
    problem = made(seed, shape)
    horizon = Horizon(CYCLE_S, least_gain)
    first = look_ahead(problem, forecast(problem, given_steps), best, horizon)
    if first is None:
        return
    second = ahead(running(problem, first.placement), given_steps, horizon)
    assert second.placement.tolist() == first.placement.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_no_way_through_all_placements_is_cheaper(seed: int) -> None:
    """Compared with every sequence of every placement, so few that the pool has most of them."""
    problem = made(seed, operators=2)
    given_steps = [Step(CYCLE_S), Step(2 * CYCLE_S, away=frozenset({"n1"})), Step(CYCLE_S, cost={"n2": 1.0})]
    found = ahead(problem, given_steps)
    weigher = weighing(problem, given_steps)
    every = np.array(list(product(range(3), repeat=2))).T
    assert problem.current is not None
    worth = weigher.of_steps(every)
    prices, start = weigher.prices.between(every), weigher.prices.from_one(problem.current, every)
    least = min(
        start[way[0]] + worth[range(3), way].sum() + sum(prices[one, other] for one, other in pairwise(way))
        for way in product(range(every.shape[1]), repeat=3)
    )
    assert found.total == pytest.approx(least, abs=OBJECTIVE_STEP)


def test_with_one_step_it_is_the_plan_of_that_step() -> None:
    """As `odr` finds it with the price of moves on the same scale."""
    for seed in range(5):
        problem = made(seed)
        (first,) = forecast(problem, [Step(CYCLE_S)]).problems
        now = replace(first, current=problem.current)
        exact = plan(now, "odr")
        assert exact.evaluation is not None
        found = ahead(problem, [Step(CYCLE_S)])
        assert evaluate(now, found.placement).objective == pytest.approx(exact.evaluation.objective, abs=1e-8)


def unlike(problem: Problem, node: str) -> Problem:
    """Return a problem in which a node is much better than the others."""
    nodes = tuple(
        replace(each, cost=1.0, speedup=4.0, capacity={"cpu": 99.0})
        if each.name == node
        else replace(each, cost=20.0, speedup=1.0, capacity={"cpu": 99.0})
        for each in problem.network.nodes
    )
    delay = np.where(np.eye(3, dtype=np.bool_), 0.0, 50.0)
    network = type(problem.network)(nodes, delay)
    return replace(problem, network=network, current=np.zeros(problem.n_ops, dtype=np.int64))


def test_what_is_about_to_leave_is_not_gone_to() -> None:
    """One step ahead it is: the plan pays for a node that is there for one more step."""
    problem = unlike(made(1), "n2")
    gone = Step(8 * CYCLE_S, away=frozenset({"n2"}))
    horizon = Horizon(CYCLE_S, move_price=0.8)
    assert (ahead(problem, [Step(4 * CYCLE_S)], horizon).placement == 1).all()
    found = ahead(problem, [Step(4 * CYCLE_S), gone], horizon)
    assert (found.placement == 0).all()
    assert found.saves == 0.0
    assert found.one_step_ahead > found.total


def test_what_comes_back_soon_is_waited_for() -> None:
    """An hour without the node is spent where it costs the least to get there and back."""
    problem = replace(unlike(made(1), "n2"), current=np.full(3, 1))
    hour = Step(CYCLE_S, away=frozenset({"n2"}))
    found = ahead(problem, [hour, Step(20 * CYCLE_S)])
    assert not (found.placement == 1).any()
    assert math.isinf(found.staying)
    assert (found.ahead[1] == 1).all()


def test_a_gain_below_the_least_is_left() -> None:
    problem = unlike(made(1), "n2")
    gain = ahead(problem, [Step(CYCLE_S)]).saves
    assert gain > 0
    assert ahead(problem, [Step(CYCLE_S)], Horizon(CYCLE_S, 0.99 * gain)).saves == pytest.approx(gain)
    kept = ahead(problem, [Step(CYCLE_S)], Horizon(CYCLE_S, 1.01 * gain))
    assert (kept.placement == 0).all()
    assert kept.saves == 0.0


def test_of_equals_it_stays() -> None:
    """Also where moves have no price."""
    alike = unlike(made(3), "n1")
    nodes = tuple(replace(each, cost=1.0, speedup=1.0, availability=1.0) for each in alike.network.nodes)
    network = type(alike.network)(nodes, np.zeros((3, 3)))
    problem = replace(
        alike,
        network=network,
        objective=replace(alike.objective, weights={"response_time": 1.0}),
        current=np.array([2, 0, 1]),
    )
    assert ahead(problem, [Step(CYCLE_S), Step(CYCLE_S, 2.0)]).placement.tolist() == [2, 0, 1]


def test_a_step_that_nothing_meets_decides_nothing() -> None:
    """All leave for a while: what is done now is what is best before and after."""
    problem = unlike(made(1), "n2")
    nothing = Step(CYCLE_S, away=frozenset(NODES))
    found = ahead(problem, [Step(4 * CYCLE_S), nothing, Step(4 * CYCLE_S)])
    assert found.impossible == (1,)
    assert (found.placement == 1).all()
    assert look_ahead(problem, forecast(problem, [nothing, Step(CYCLE_S)]), best, Horizon(CYCLE_S)) is None


def test_what_runs_nowhere_yet_is_started_for_the_time_to_come() -> None:
    """Where it is best after the next step, as a start has no price and a move has one."""
    problem = running(unlike(made(1), "n2"))
    short = Step(1.0, cost={"n2": 25.0})
    found = ahead(problem, [short, Step(9 * CYCLE_S)])
    assert (found.placement == 1).all()


def test_the_pool_is_bounded_and_keeps_what_matters() -> None:
    """The running placement comes first, and the optimum of each step is in it."""
    problem = made(7, "dag", 7)
    given_steps = [Step(CYCLE_S), Step(CYCLE_S, away=frozenset({"n1"})), Step(CYCLE_S, cost={"n3": 0.0})]
    worth = weighing(problem, given_steps)
    suggestions = Suggestions(worth, best, NO_DEADLINE)
    assert problem.current is not None
    wide, narrow = (pool_of(problem.current, worth, suggestions, most, NO_DEADLINE) for most in (1000, 8))
    assert narrow.shape[1] == 8 < wide.shape[1]
    for pool in (wide, narrow):
        columns = [tuple(each) for each in pool.T.tolist()]
        assert columns[0] == tuple(problem.current.tolist())
        assert len(set(columns)) == len(columns)
        assert {tuple(each.tolist()) for each in suggestions.optima if each is not None} <= set(columns)


def test_the_plan_meets_the_constraints_of_its_step() -> None:
    """Also where the nodes that are away leave each operator a single choice."""
    problem = made(2)
    found = ahead(problem, [Step(CYCLE_S, away=frozenset({"n1", "n3"})), Step(CYCLE_S)])
    first = forecast(problem, [Step(CYCLE_S, away=frozenset({"n1", "n3"}))]).problems[0]
    assert check(first, found.placement) == ()


def test_what_is_weighed_besides_can_be_chosen_and_its_saving_is_known() -> None:
    """The best of them as a whole; what is not in the pool has none."""
    problem = unlike(made(1), "n2")
    outlook = forecast(problem, [Step(CYCLE_S)])
    other = np.array([0, 0, 1])
    found = look_ahead(problem, outlook, lambda _: None, Horizon(CYCLE_S), also=[other])
    assert found is not None
    assert found.saved_by(found.placement) == pytest.approx(found.saves)
    saved = found.saved_by(other)
    assert saved is not None
    assert saved <= found.saves
    assert found.saved_by(np.array([2, 0, 2])) is None


def test_a_change_that_does_not_pay_its_price_is_left() -> None:
    """Whatever it moves, it has to save more than the price over all steps."""
    problem = unlike(made(1), "n2")
    free = ahead(problem, [Step(4 * CYCLE_S)])
    price = free.saves
    assert (
        ahead(problem, [Step(4 * CYCLE_S)], Horizon(CYCLE_S, change_price=0.99 * price)).placement == 1
    ).all()
    assert (
        ahead(problem, [Step(4 * CYCLE_S)], Horizon(CYCLE_S, change_price=1.01 * price)).placement == 0
    ).all()


def test_without_time_nothing_moves_that_can_stay() -> None:
    """What was not planned on might move again."""
    problem = unlike(made(1), "n2")
    late = Deadline(lambda: 1.0, 0.0)
    found = look_ahead(problem, forecast(problem, [Step(9 * CYCLE_S)]), best, Horizon(CYCLE_S), late)
    assert found is not None
    assert not found.settled
    assert (found.placement == 0).all()
    away = forecast(problem, [Step(9 * CYCLE_S, away=frozenset({"n1"}))])
    found = look_ahead(problem, away, best, Horizon(CYCLE_S), late)
    assert found is not None
    assert not (found.placement == 0).any()


def test_moves_are_limited_in_the_first_step() -> None:
    """As the problem limits them from where operators run now; what comes later may go on."""
    problem = unlike(made(1), "n2")
    limited = replace(problem, constraints=(MoveLimit(1),))
    found = ahead(limited, [Step(CYCLE_S), Step(9 * CYCLE_S)])
    assert (found.placement != 0).sum() <= 1
    assert (found.ahead[1] == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_worth_what_they_are_as_placements(seed: int) -> None:
    """Also of a placement that its step does not permit."""
    problem = made(seed, "dag", 5)
    steps_given = [Step(CYCLE_S), Step(CYCLE_S, 2.0, frozenset({"n1"})), Step(2 * CYCLE_S, cost={"n3": 30.0})]
    worth = weighing(problem, steps_given)
    assert problem.current is not None
    beside = Neighbours(worth, problem.current)
    assert np.allclose(beside.of_steps(0, 3), worth.of_steps(beside.placements))
    columns = {tuple(each) for each in beside.placements.T.tolist()}
    moved = problem.current.copy()
    moved[2] = (moved[2] + 1) % 3
    assert {tuple(problem.current.tolist()), tuple(moved.tolist())} <= columns
