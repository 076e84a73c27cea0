"""Rules of what is remembered of a topology from reading to reading."""

from __future__ import annotations

import random

import pytest

from monitoring.rates.counters import Counters, ExecutorLook, Shape, Stream
from monitoring.rates.topology_rates import TopologyRates

SPOUT = Stream("spout", "default")
REFRESH_S = 60


def test_noise_does_not_change_how_busy_a_component_is_published() -> None:
    """Around 40 % of a core, with a tenth more or less from one minute to the next."""
    chance = random.Random(5)
    topology = TopologyRates(Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"})))
    busy_ms, published = 0.0, []
    for age_s in range(REFRESH_S, 50 * REFRESH_S, REFRESH_S):
        busy_ms += REFRESH_S * 1000 * 0.4 * chance.uniform(0.9, 1.1)
        counters = Counters(age_s, 1.0, {}, {}, {SPOUT: age_s}, {SPOUT: busy_ms}, busy_ms)
        spout = ExecutorLook("spout", 1, 1, "a", 6700, Counters(age_s, 1.0, {}, {}, {}, None))
        step = topology.look(age_s, [spout, ExecutorLook("bolt", 2, 2, "a", 6700, counters)])
        published.extend([] if step.rates is None else [step.rates.busy["bolt"]])
    assert len(published) == 48
    # The first may lie below the step that all others keep.
    assert len(set(published[10:])) == 1
    assert set(published) <= {39.8, 50.1}


def test_an_executor_that_moved_far_away_worked_when_it_was_loaded() -> None:
    """It has no statistics for two minutes: what waited for it is taken at once, in the last six seconds."""
    topology = TopologyRates(Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"})))

    def bolt(age_s: int | None, count: int, host: str = "far") -> ExecutorLook:
        counters = None if age_s is None else Counters(age_s, 1.0, {}, {}, {SPOUT: count}, None)
        return ExecutorLook("bolt", 2, 2, host, 6700, counters)

    looks = [(-5, bolt(600, 300, "near")), *((now_s, bolt(None, 0)) for now_s in range(0, 142, 10))]
    looks += [(120 + age_s, bolt(age_s, count)) for age_s, count in ((22, 14), (28, 17), (50, 28))]
    for now_s, look in looks:
        step = topology.look(now_s, [look])
    assert step.rates is not None
    (worked_s, task), *_ = step.rates.worked
    assert (task, worked_s) == (2, pytest.approx(50 - 19, abs=2))
