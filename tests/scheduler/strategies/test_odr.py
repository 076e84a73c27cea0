"""Ties, limits on moves, and the way of larger problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.instances.generators.replacement import replacement, running
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem
from scheduler.plan import plan
from scheduler.strategies.odr import OdrParameters
from scheduler.strategies.odr_search import OdrSearchParameters


def alike(current: list[int] | None) -> Problem:
    """Three operators without streams on three equal nodes: every placement is worth the same."""
    nodes = tuple(Node(f"n{u}", {"slots": 2}) for u in range(3))
    application = Application(tuple(Operator(f"o{i}", 1.0) for i in range(3)))
    at = None if current is None else np.array(current)
    return Problem(application, Network(nodes, np.zeros((3, 3))), Objective(), at)


@pytest.mark.parametrize("parameters", [OdrParameters(), OdrParameters(enumerate_up_to=0)])
def test_of_equals_the_one_that_moves_least_counts(parameters: OdrParameters) -> None:
    result = plan(alike([2, 1, 2]), "odr", parameters)

    assert result.placement is not None
    assert result.placement.tolist() == [2, 1, 2]
    assert result.status == "optimal"


def test_then_the_one_with_the_smallest_nodes() -> None:
    """Two slots a node, so that the third operator needs the second node."""
    result = plan(alike(None), "odr")

    assert result.placement is not None
    assert result.placement.tolist() == [0, 0, 1]


def test_only_what_has_to_move_moves() -> None:
    """Three operators on a node of two slots."""
    result = plan(alike([1, 1, 1]), "odr")

    assert result.placement is not None
    assert result.placement.tolist() == [0, 1, 1]


@pytest.mark.parametrize("seed", range(4))
def test_the_proof_and_the_look_at_all_placements_agree(seed: int) -> None:
    random = np.random.default_rng(seed)
    problem = running(replacement("dag", 4, 4, random, "per-node"), random.integers(0, 4, 4))
    listed = plan(problem, "odr")
    proved = plan(problem, "odr", OdrParameters(enumerate_up_to=0, work_limit=None))

    assert listed.status == proved.status
    if listed.evaluation is not None:
        assert proved.evaluation is not None
        assert proved.evaluation.objective == pytest.approx(listed.evaluation.objective, abs=1e-6)


@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_a_search_moves_no_more_than_it_may(most: int) -> None:
    random = np.random.default_rng(3)
    problem = replacement("chain", 6, 5, random)
    problem = running(problem, plan(running(problem), "greedy-no-penalty").placement)
    moved = []
    for limit in (most, None):
        result = plan(problem, "odr-search", OdrSearchParameters(most_moves=limit))
        assert result.placement is not None
        assert problem.current is not None
        moved.append(int((result.placement != problem.current).sum()))
    assert moved[0] <= most
    assert moved[1] > 2


def test_fewer_moves_are_worth_no_more_than_more() -> None:
    random = np.random.default_rng(3)
    problem = replacement("chain", 6, 5, random)
    problem = running(problem, plan(running(problem), "greedy-no-penalty").placement)
    worth = []
    for most in (0, 1, 2, 3, None):
        result = plan(problem, "odr-search", OdrSearchParameters(most_moves=most))
        assert result.evaluation is not None
        worth.append(result.evaluation.objective)
    assert worth == sorted(worth, reverse=True)


def test_no_time_gives_a_placement_all_the_same() -> None:
    random = np.random.default_rng(1)
    problem = running(replacement("tree", 8, 6, random), random.integers(0, 6, 8))
    for strategy in ("odr", "odr-search"):
        assert plan(problem, strategy, deadline=Deadline(lambda: 1.0, 0.0)).placement is not None


def test_operators_that_run_nowhere_are_no_moves() -> None:
    """And the limit on moves lets them start."""
    problem = replace(alike([2, -1, -3]), gone={"o2": "n9"})
    result = plan(problem, "odr-search", OdrSearchParameters(most_moves=0))

    assert result.placement is not None
    assert result.placement[0] == 2


@pytest.mark.parametrize("strategy", ["odr", "odr-search"])
def test_what_is_pinned_elsewhere_does_not_stay_though_it_would_be_worth_as_much(strategy: str) -> None:
    problem = alike([0, 1, 1])
    first, *others = problem.application.operators
    pinned = replace(problem.application, operators=(replace(first, allowed=("n2",)), *others))
    parameters = OdrParameters(enumerate_up_to=0) if strategy == "odr" else None
    result = plan(replace(problem, application=pinned), strategy, parameters)
    assert result.placement is not None
    assert result.placement[0] == 2
