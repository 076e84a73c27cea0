"""What a policy sees of a run, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.elasticity.fleet import Fleet
from experiments.elasticity.observing import Observer
from experiments.elasticity.policy import First, Moment
from experiments.elasticity.queues import Queues
from tests.experiments.elasticity.scenarios import ONE, TWO, scenario


def test_durations_are_those_of_the_last_recorded_items() -> None:
    chosen = scenario(sample_every=2)
    offer = chosen.offer["small"]
    queues, fleet = Queues(chosen, np.full(60, 4.0)), Fleet(chosen, offer, 1, First({"a": 1}, 1))
    observer = Observer(chosen, queues, 1)

    def seen(step: int) -> list[tuple[float, ...]]:
        readings = observer.observation(fleet, Moment(step, step - 1)).readings
        return [each.durations_ms for each in readings]

    queues.step(0, 3, {"a": np.ones(3), "b": np.ones(3)})
    assert seen(1) == [pytest.approx([1500.0]), ()], "of b one item is processed, and every second counts"
    # four come in each step and two leave: items 2, 4 and 6 came at 0.5, 1 and 1.5, and leave at 1, 2 and 3
    assert seen(3) == [pytest.approx([1500.0, 2000.0, 2500.0]), pytest.approx([1000.0])]
    queues.step(3, 60, {"a": np.ones(57), "b": np.ones(57)})
    assert seen(60)[0] == pytest.approx([500.0 * k + 1000.0 for k in range(41, 61)]), "twenty, the last ones"


def test_an_item_takes_as_long_whenever_it_is_looked_at() -> None:
    uneven = [{**ONE, "duration_sigma": 0.5}, {**TWO, "duration_sigma": 0.1}]
    chosen = scenario(component=uneven, sample_every=1)
    queues, fleet = (
        Queues(chosen, np.full(9, 4.0)),
        Fleet(chosen, chosen.offer["small"], 1, First({"a": 1}, 1)),
    )
    queues.step(0, 9, {"a": np.full(9, 2.0), "b": np.ones(9)})
    observer = Observer(chosen, queues, 1)
    before, after = (observer.observation(fleet, Moment(k, k - 1)).readings for k in (8, 9))
    assert after[0].durations_ms[:16] == before[0].durations_ms[4:], "four more, and twenty in all"
    assert after[1].durations_ms[:16] == before[1].durations_ms[:16], "two more"
    # of items of the same number the logarithms are as far from their median, times the spread
    off = [np.log(np.array(each.durations_ms[:16]) / 1000.0) for each in before]
    a, b = (each + spread**2 / 2.0 for each, spread in zip(off, (0.5, 0.1), strict=True))
    later = np.log(np.array(after[0].durations_ms) / 1000.0)[-16:] + 0.125
    assert np.std(a) > 3.0 * np.std(b) > 0.0
    assert a.tolist() != later.tolist()


def test_a_sample_says_how_busy_executors_were_and_what_waits() -> None:
    chosen = scenario(response_max_ms=4000)
    offer = chosen.offer["small"]
    queues, fleet = Queues(chosen, np.full(30, 3.0)), Fleet(chosen, offer, 1, First({"a": 2, "b": 2}, 1))
    working = fleet.working(np.arange(30.0))
    queues.step(0, 20, {name: each[:20] for name, each in working.items()})
    observer = Observer(chosen, queues, 1)
    samples = observer.samples({"": fleet}, Moment(20, 10))
    a, b = samples["a"], samples["b"]
    assert (a.executors, a.arrival_rate, a.backlog, a.paused) == (2, 3.0, 0.0, False)
    assert a.utilisation == pytest.approx((0.75, 0.75))
    assert (b.executors, b.arrival_rate, b.utilisation) == (2, 1.5, pytest.approx((0.375, 0.375)))
    # equal queues that are busy for a part of the time: 500 ms over what is left of it
    assert (a.response_ms, b.response_ms) == pytest.approx((2000.0, 800.0))
    assert a.application_load == b.application_load == pytest.approx(0.7)
    queues.step(20, 30, {"a": np.ones(10), "b": np.ones(10)})
    late = observer.samples({"": fleet}, Moment(30, 25))
    assert (late["a"].backlog, late["b"].backlog) == pytest.approx((5.0, 0.0)), "one more comes in each step"
