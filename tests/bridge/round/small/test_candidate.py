"""What a placement gains is priced from where the executors are taken to run."""

from __future__ import annotations

import pytest

from bridge.problem.occupancy import RoundState
from bridge.problem.task import make_task
from bridge.round.round_data import gather_data
from bridge.round.small.candidate import Running
from bridge.round.small.search import Search
from bridge.round.small.thresholds import Thresholds
from bridge.settings import Settings
from bridge.wishes.wishes import wishes_of
from scheduler.base.deadline import NO_DEADLINE
from scheduler.evaluation.evaluate import evaluate
from tests.bridge.round.moving.priced_rounds import market

SETTINGS = Settings()


def test_a_gain_over_another_placement_is_priced_from_that_one(make):
    """Back from the cheap host to the dear one: 18 a second more of 18, and 20 s of loading at 10 of 400."""
    weights = {"weights": {"cost": 0.5, "migration": 0.5}, "image.mb": 200, "migration.scale": 400}
    request = market(make, weights)
    data = gather_data(request, SETTINGS)
    state = RoundState(request, data.hosts, "soft")
    task = make_task(state, 0, wishes_of(request.topologies[0], SETTINGS.plan), SETTINGS.plan)
    search = Search(state, data.surroundings, lambda _: NO_DEADLINE)
    question = search.pose(task, [None, None])
    thresholds = Thresholds.of(SETTINGS.move, task.settings)
    before = evaluate(question.problem, question.frame.current)
    running = Running(state, task, question, before, thresholds)
    names = [host.name for host in state.hosts.hosts]
    cheap, dear = ([names.index(host)] * 2 for host in ("cheap", "dear"))
    back = running.gains_from(question.frame.nodes_of(cheap), dear)
    assert back.of_f == pytest.approx(-0.5 - 0.5 * 200 / 400)
    there = running.gains_from(question.frame.nodes_of(dear), cheap)
    assert there.of_f == pytest.approx(0.5 - 0.5 * 20 / 400)
    assert running.saving(cheap) == pytest.approx(there.of_f / before.objective)
