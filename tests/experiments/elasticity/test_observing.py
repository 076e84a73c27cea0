"""What a policy sees of a run, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.elasticity.fleet import Fleet
from experiments.elasticity.observing import Observer
from experiments.elasticity.policy import First, Moment
from experiments.elasticity.queues import Queues
from tests.experiments.elasticity.scenarios import ONE, TWO, scenario

SURE = [{**each, "duration_sigma": 0} for each in (ONE, TWO)]
"""Components whose items all take as long."""


def test_durations_are_those_of_the_last_recorded_items() -> None:
    chosen = scenario(component=SURE, sample_every=2)
    queues, fleet = (
        Queues(chosen, np.full(60, 4.0)),
        Fleet(chosen, chosen.offer["small"], 1, First({"a": 1}, 1)),
    )
    observer = Observer(chosen, queues, 1)

    def seen(step: int) -> list[tuple[float, ...]]:
        readings = observer.observation(fleet, Moment(step, step - 1)).readings
        return [each.durations_ms for each in readings]

    queues.step(0, 3, {"a": np.ones(3), "b": np.ones(3)})
    assert seen(1) == [pytest.approx([1500.0]), ()], "of b half an item is processed"
    # four come in each step and two leave: items 2, 4 and 6 came at 0.5, 1 and 1.5, and leave at 1, 2 and 3
    assert seen(3) == [pytest.approx([1500.0, 2000.0, 2500.0]), pytest.approx([1000.0])]
    queues.step(3, 60, {"a": np.ones(57), "b": np.ones(57)})
    assert seen(60)[0] == pytest.approx([500.0 * k + 1000.0 for k in range(41, 61)]), "twenty, the last ones"


def test_a_sample_says_how_busy_executors_were_and_what_waits() -> None:
    chosen = scenario(component=SURE, response_max_ms=4000)
    offer = chosen.offer["small"]
    queues, fleet = Queues(chosen, np.full(20, 3.0)), Fleet(chosen, offer, 1, First({"a": 2, "b": 1}, 1))
    queues.step(0, 20, fleet.working(np.arange(20.0)))
    samples = Observer(chosen, queues, 1).samples({"": fleet}, Moment(20, 10))
    a, b = samples["a"], samples["b"]
    assert (a.executors, a.arrival_rate, a.backlog, a.paused) == (2, 3.0, 0.0, False)
    assert a.utilisation == pytest.approx((0.75, 0.75))
    assert (b.executors, b.arrival_rate) == (1, 1.5)
    # equal queues that are busy for three quarters of the time: four times 500 ms
    assert (a.response_ms, b.response_ms) == pytest.approx((2000.0, 2000.0))
    assert a.application_load == b.application_load == pytest.approx(1.0)
