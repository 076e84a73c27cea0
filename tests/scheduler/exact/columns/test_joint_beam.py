"""Placements that prices guide keep what is open and what nodes hold, and differ from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.columns.joint_beam import TRIALS, JointBeam
from scheduler.exact.solver.guided import guide
from scheduler.instances.generators.replacement import replacement, running
from scheduler.model.capacity import TOLERANCE
from scheduler.plan import plan
from tests.scheduler.exact.columns.joint_problems import joint_form, some_places, some_prices

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

NEVER = Deadline.none()


@pytest.mark.parametrize("seed", range(12))
def test_a_placement_is_on_open_places_that_hold_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    form = joint_form(seed)
    places = some_places(form, random)
    beam = JointBeam(form, places, some_prices(form, random, 0.1))
    found = beam.placements(random)
    for at in found.T:
        assert places[np.arange(form.n_classes), at].all()
        load = np.zeros(form.capacity.shape)
        np.add.at(load, at, form.demand)
        assert (load <= form.capacity + TOLERANCE).all()
    if (form.capacity >= form.demand.sum(axis=0)).all():
        assert found.shape[1] == TRIALS, "each node holds everything"


def joint(seed: int) -> Problem:
    """Return three topologies that run where `even` put them."""
    problem = replacement(("chain", "tree", "dag"), 6, 8, np.random.default_rng(seed), "per-node")
    return running(problem, plan(problem, "even", seed=seed).placement)


@pytest.mark.parametrize("seed", range(3))
def test_prices_guide_to_better_placements_than_the_one_that_runs(seed: int) -> None:
    problem = joint(seed)
    worth = plan(problem, "even", seed=seed).evaluation
    assert worth is not None
    anew = guide(problem, worth.objective, NEVER)
    assert anew is not None
    random = np.random.default_rng(seed)
    found = anew(random)
    worths = [evaluate(problem, each).objective for each in found.T]
    assert min(worths) < worth.objective
    assert len({round(each, 9) for each in worths}) > 1, "they differ"


def test_without_time_there_is_no_guide() -> None:
    assert guide(joint(0), 10.0, Deadline(lambda: 1.0, 1.0)) is None
