"""Rules of a cold start of many hosts."""

from __future__ import annotations

import numpy as np

from benchmarks.monitoring.cold_start import cold_start, network


def test_hosts_of_a_site_are_near_each_other_and_far_from_the_others() -> None:
    _, site, delay_ms = network(12, 3, seed=0)
    same = site[:, None] == site
    assert np.array_equal(delay_ms, delay_ms.T)
    assert set(delay_ms[same]) == {0.0, 0.25}
    assert delay_ms[~same].min() > 1.0


def test_of_many_hosts_that_start_at_once_most_have_a_place_to_be_believed_after_30_s() -> None:
    begun, soon = cold_start(100, 10, seed=0, moments_s=(1.0, 30.0))
    assert begun["believed"] == 0
    assert soon["believed"] >= 0.8
    assert soon["within"] < 4.0
