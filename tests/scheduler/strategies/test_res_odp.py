from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.evaluation.evaluate import evaluate
from scheduler.plan import plan
from scheduler.strategies.res_odp import ResOdpParameters, draw_candidates, expand

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@pytest.mark.parametrize("given", [0, 1.0, True])
def test_there_is_at_least_one_neighbour(given: int) -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match=f"neighbours: expected a whole number >= 1, got {given}"):
        ResOdpParameters(neighbours=given)


def test_of_the_nodes_that_share_an_operator_each_is_drawn_as_often() -> None:
    """However unequal the shares are; nodes without a share are never drawn."""
    shares = np.array([[0.0, 0.9, 0.1, 0.0]])
    random = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([draw_candidates(shares, random) for _ in range(1000)]), minlength=4)

    assert counts[[0, 3]].tolist() == [0, 0]
    assert abs(counts[1] - counts[2]) < 150


def test_every_candidate_gets_new_neighbours() -> None:
    """As many as asked for, none of them a candidate already."""
    distance = np.abs(np.arange(20.0)[:, None] - np.arange(20.0))
    found = expand(distance, np.array([3, 4, 15]), 2, np.random.default_rng(0))

    assert found.size == 3 + 3 * 2
    assert {3, 4, 15} <= set(found.tolist())
    assert (np.diff(found) > 0).all()


def test_near_neighbours_are_drawn_more_often() -> None:
    """The nearest of nine others is drawn several times as often as the farthest."""
    distance = np.abs(np.arange(10.0)[:, None] - np.arange(10.0))
    random = np.random.default_rng(0)
    drawn_ones = np.concatenate([expand(distance, np.array([0]), 1, random) for _ in range(500)])
    counts = np.bincount(drawn_ones, minlength=10)

    assert counts[1] > 3 * counts[9] > 0


def test_when_nodes_run_out_all_are_taken() -> None:
    """More neighbours than there are others is no error, perfect links included."""
    found = expand(np.zeros((4, 4)), np.array([0, 2]), 5, np.random.default_rng(0))

    assert found.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(4))
def test_with_all_neighbours_it_is_exact(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """On all nodes the result is the optimum, and proved."""
    problem = make_problem(seed, 5, 4)
    best = min(evaluate(problem, placement).objective for placement in feasible_placements(problem))
    result = plan(problem, "res-odp", ResOdpParameters(neighbours=4, proof_size=20))

    assert result.evaluation is not None
    assert result.evaluation.objective == pytest.approx(best, abs=2e-9)
    assert result.status == "optimal"
    assert result.bound == pytest.approx(best, abs=1e-6)
