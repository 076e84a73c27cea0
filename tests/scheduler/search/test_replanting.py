"""Placing many operators anew: the beam is exact where it keeps everything, and steps never lose the best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.search.beam import Beam, Trials
from scheduler.search.replanting import Replanting, replants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem

SEEDS = range(12)
EVERYTHING = 10_000
"""Partial placements of four operators on four nodes are fewer."""


def two_chains(seed: int) -> Problem:
    """Two chains of two operators on four nodes that are paid once; they run somewhere."""
    random = np.random.default_rng(seed)
    return running(replacement(("chain", "chain"), 2, 4, random, "per-node"), random.integers(0, 4, 4))


def trial(problem: Problem, moving: BoolArray, nodes: IntArray) -> Trials:
    """One trial in which some operators are placed anew on some nodes that ask for nothing."""
    return Trials(
        moving[None], np.isin(np.arange(problem.n_nodes), nodes)[None], np.zeros((1, problem.n_nodes))
    )


def together(trials: Sequence[Trials]) -> Trials:
    """All of some trials."""
    return Trials(*(np.concatenate([getattr(each, name) for each in trials]) for name in vars(trials[0])))


def replanted(problem: Problem, placement: IntArray, moving: BoolArray, nodes: IntArray) -> IntArray | None:
    """What a beam that keeps everything finds in one trial, the second graph placed first."""
    found = Beam(problem, EVERYTHING).replanted(placement, trial(problem, moving, nodes), np.array([1, 0]))
    return found[0] if len(found) else None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_beam_that_keeps_everything_finds_the_best(
    seed: int, feasible_placements: FeasiblePlacements
) -> None:
    problem = two_chains(seed)
    least = min(evaluate(problem, each).objective for each in feasible_placements(problem))
    found = replanted(problem, np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.bool_), np.arange(4))
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
    found = replanted(problem, here, moving, nodes)
    if not others:
        assert found is None
        return
    assert found is not None
    assert any((found == each).all() for each in others)
    least = min(evaluate(problem, each).objective for each in others)
    assert evaluate(problem, found).objective == pytest.approx(least)


@pytest.mark.parametrize("seed", SEEDS)
def test_trials_side_by_side_find_what_each_finds_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    problem = running(replacement(("tree", "chain"), 6, 8, random, "per-node"), np.zeros(12, dtype=np.int64))
    here = random.integers(0, 8, 12)
    trials = [
        replace(
            trial(problem, random.random(12) < share, random.permutation(8)[:count]),
            prices=random.exponential(0.01, (1, 8)),
        )
        for share, count in ((0.0, 3), (0.2, 1), (0.4, 4), (0.6, 8), (1.0, 5))
    ]
    beam, order = Beam(problem, 5), random.permutation(2)
    # nodes that another trial may use are inf here, so that they may only change which of equals are kept
    alone = [beam.replanted(here, each, order) for each in trials]
    assert (np.concatenate(alone) == beam.replanted(here, together(trials), order)).all()


def test_trials_without_a_place_for_an_operator_find_nothing() -> None:
    problem = two_chains(1)
    nowhere = trial(problem, np.ones(4, dtype=np.bool_), np.zeros(0, dtype=np.int64))
    assert not len(Beam(problem, 5).replanted(np.zeros(4, dtype=np.int64), nowhere, np.arange(2)))


@pytest.mark.parametrize("seed", [4, 9, 14])  # of two graphs, with pins, slots and links that are weighed
def test_a_beam_knows_streams_pins_and_slots(
    seed: int, make_problem: MakeProblem, feasible_placements: FeasiblePlacements
) -> None:
    problem = make_problem(seed, 5, 4)
    start = next(iter(feasible_placements(problem)))
    least = min(evaluate(problem, each).objective for each in feasible_placements(problem))
    found = replanted(problem, start, problem.movable, np.arange(4))
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
