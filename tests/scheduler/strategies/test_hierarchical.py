from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import Application, CoLocationLimit, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.reduce.narrowing import solve_on
from scheduler.strategies.hierarchical import HierarchicalParameters

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context, Progress, Suggestion


@pytest.mark.parametrize("given", [1, 2.0, True])
def test_the_grouping_factor_is_a_whole_number_of_at_least_two(given: int) -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match=f"grouping_factor: expected a whole number >= 2, got {given}"):
        HierarchicalParameters(grouping_factor=given)


def sites(operators: int, *, constraints: tuple[CoLocationLimit, ...] = ()) -> Problem:
    """A chain of operators, and four sites of four nodes with one slot each; the third site is the best.

    Delays: 5 ms within a site and 1 ms within the third one, 50 ms between sites.
    """
    site = np.repeat(np.arange(4), 4)
    near = np.where(site == 2, 1.0, 5.0)
    delay = np.where(site[:, None] == site, near[:, None], 50.0) * (1.0 - np.eye(16))
    nodes = tuple(Node(f"n{u}", {"slots": 1}) for u in range(16))
    names = [f"o{i}" for i in range(operators)]
    streams = tuple(Stream(a, b) for a, b in pairwise(names))
    application = Application(tuple(Operator(name) for name in names), streams)
    return Problem(application, Network(nodes, delay), constraints=constraints)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_site_is_found(seed: int) -> None:
    """Where groups of nodes are clearly better than others, averages show which, and their nodes are used."""
    result = plan(sites(4), "hierarchical", seed=seed)

    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == 3.0


def test_an_application_that_needs_two_sites_gets_two() -> None:
    """Six operators, four slots per site: one long way between sites and four short ones."""
    result = plan(sites(6), "hierarchical")

    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == 3 * 1.0 + 50.0 + 5.0


def crowded(constraints: tuple[CoLocationLimit, ...] = ()) -> Problem:
    """Two pairs of nodes; a pair has room for three operators on paper, but each node holds one."""
    delay = np.array([[0.0, 1, 50, 50], [1, 0, 50, 50], [50, 50, 0, 1], [50, 50, 1, 0]])
    nodes = tuple(Node(f"n{u}", {"slots": 3}) for u in range(4))
    operators = tuple(Operator(name, demand={"slots": 2}) for name in "abc")
    return Problem(
        Application(operators, (Stream("a", "b"), Stream("b", "c"))),
        Network(nodes, delay),
        constraints=constraints,
    )


def test_room_that_exists_only_in_sum_is_no_obstacle() -> None:
    """The virtual data centre of two nodes cannot hold what its sum promises, so all nodes are considered."""
    result = plan(crowded(), "hierarchical")

    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == 51.0
    assert result.status == "optimal"
    assert result.bound == pytest.approx(result.evaluation.objective)


def test_limits_on_co_location_hold() -> None:
    """Operators that may not share a node do not, although they would on a virtual data centre."""
    problem = sites(4, constraints=(CoLocationLimit(("o0", "o1", "o2", "o3"), most=1),))
    result = plan(problem, "hierarchical")

    assert result.placement is not None
    assert check(problem, result.placement) == ()


def test_nothing_is_proved_on_some_of_the_nodes() -> None:
    """An optimum among the nodes of a site is no optimum of the problem, and its bound does not hold."""
    result = plan(sites(4), "hierarchical")

    assert (result.status, result.bound) == ("feasible", None)
    assert " of 16 nodes: proved" in result.reason


def test_progress_is_reported_in_nodes_of_the_problem() -> None:
    """Whoever listens gets feasible placements with their worth, never of one on virtual data centres."""
    problem = sites(4)
    reported: list[Progress] = []
    plan(problem, "hierarchical", report=reported.append)

    assert reported
    for progress in reported:
        assert progress.bound is None
        if progress.placement is not None:
            assert check(problem, progress.placement) == ()
            assert evaluate(problem, progress.placement).objective == pytest.approx(progress.objective)


def test_every_level_gets_an_equal_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three levels of virtual data centres and the nodes have 12 s, and each takes all that it gets."""
    now_s, given_s = [0.0], []

    def slow(
        problem: Problem, nodes: IntArray, proof_size: int, context: Context, *, quick: bool = False
    ) -> Suggestion:
        given_s.append(context.deadline.remaining())
        now_s[0] += given_s[-1]
        return solve_on(problem, nodes, proof_size, replace(context, deadline=Deadline.none()), quick=quick)

    monkeypatch.setattr("scheduler.reduce.narrowing.solve_on", slow)
    result = plan(sites(4), "hierarchical", deadline=Deadline(lambda: now_s[0], 12.0))

    assert given_s == pytest.approx([3.0] * 4)
    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == 3.0


def test_with_no_time_at_all_the_placement_is_the_greedy_one(hundred_nodes: Problem) -> None:
    """The hierarchy is not even begun."""
    expired = Deadline(clock=lambda: 1.0, at=0.0)
    found, greedy = (
        plan(hundred_nodes, name, deadline=expired).evaluation for name in ("hierarchical", "greedy")
    )

    assert found == greedy
