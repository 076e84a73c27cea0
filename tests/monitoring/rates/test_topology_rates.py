"""Rules of what is remembered of a topology from reading to reading."""

from __future__ import annotations

import random

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
