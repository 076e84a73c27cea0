"""Placing many operators anew: the beam is exact where it keeps everything, and steps never lose the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.search.beam import Beam
from scheduler.search.replanting import Replanting, replants

if TYPE_CHECKING:
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem

SEEDS = range(12)
EVERYTHING = 10_000
"""Partial placements of four operators on four nodes are fewer."""


def two_chains(seed: int) -> Problem:
    """Two chains of two operators on four nodes that are paid once; they run somewhere."""
    random = np.random.default_rng(seed)
    return running(replacement(("chain", "chain"), 2, 4, random, "per-node"), random.integers(0, 4, 4))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_beam_that_keeps_everything_finds_the_best(
    seed: int, feasible_placements: FeasiblePlacements
) -> None:
    problem = two_chains(seed)
    least = min(evaluate(problem, each).objective for each in feasible_placements(problem))
    everywhere, free = np.arange(4), np.zeros(4)
    found = Beam(problem, EVERYTHING).replanted(
        np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.bool_), everywhere, np.arange(2), free
    )
    assert found is not None
    assert not check(problem, found)
    assert evaluate(problem, found).objective == pytest.approx(least)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_does_not_move_stays_and_the_rest_is_best_beside_it(
    seed: int, feasible_placements: FeasiblePlacements
) -> None:
    problem = two_chains(seed)
    here = next(iter(feasible_placements(problem)))
    moving = np.array([False, True, True, False])
    nodes = np.array([1, 3])
    others = [
        each
        for each in feasible_placements(problem)
        if (each[~moving] == here[~moving]).all() and np.isin(each[moving], nodes).all()
    ]
    found = Beam(problem, EVERYTHING).replanted(here, moving, nodes, np.array([1, 0]), np.zeros(4))
    if not others:
        assert found is None
        return
    assert found is not None
    assert any((found == each).all() for each in others)
    least = min(evaluate(problem, each).objective for each in others)
    assert evaluate(problem, found).objective == pytest.approx(least)


@pytest.mark.parametrize("seed", [4, 9, 14])  # of two graphs, with pins, slots and links that are weighed
def test_a_beam_knows_streams_pins_and_slots(
    seed: int, make_problem: MakeProblem, feasible_placements: FeasiblePlacements
) -> None:
    problem = make_problem(seed, 5, 4)
    start = next(iter(feasible_placements(problem)))
    least = min(evaluate(problem, each).objective for each in feasible_placements(problem))
    found = Beam(problem, EVERYTHING).replanted(
        start, problem.movable, np.arange(4), np.arange(2), np.zeros(4)
    )
    assert found is not None
    assert not check(problem, found)
    assert evaluate(problem, found).objective == pytest.approx(least)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_walk_keeps_the_best_placement_that_it_met(
    seed: int, feasible_placements: FeasiblePlacements
) -> None:
    problem = two_chains(seed)
    start = next(iter(feasible_placements(problem)))
    assert replants(problem)
    walk = Replanting(problem, start, np.random.default_rng(seed))
    worth = evaluate(problem, start).objective
    for _ in range(10):
        walk.walk(10, Deadline.none())
        assert not check(problem, walk.best)
        now = evaluate(problem, walk.best).objective
        assert now <= worth
        worth = now
    least = min(evaluate(problem, each).objective for each in feasible_placements(problem))
    assert worth == pytest.approx(least)


def test_one_graph_on_nodes_that_cost_nothing_together_is_not_replanted() -> None:
    problem = replacement("chain", 4, 4, np.random.default_rng(1))
    assert not replants(problem)
