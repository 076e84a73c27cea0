"""Rules of the filter against queueing noise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.agent.latency_filter import FilteredDelay, LatencyFilter


def fed(samples_ms: list[float]) -> float:
    latency = LatencyFilter()
    return [latency.add("a", float(n), sample) for n, sample in enumerate(samples_ms)][-1]


@pytest.mark.parametrize(
    ("samples_ms", "expected_ms"),
    [
        ([20.0], 20.0),
        ([20.0, 90.0], 20.0),
        ([90.0, 20.0], 20.0),
        ([20.0, 21.0, 70.0, 95.0, 130.0], 21.0),  # three spikes in five leave no trace
        ([20.0] * 5 + [60.0], 20.0),  # might still be a spike
        ([20.0] * 5 + [60.0, 65.0], 20.0),  # queues do not repeat to a tenth of what they add
        ([20.0] * 5 + [60.0, 63.0], 60.0),  # another path, and much longer
        ([20.0] * 5 + [60.0, 63.0, 61.0], 60.0),
        ([20.0] * 5 + [60.0, 63.0, 21.0, 22.0], 21.0),  # and if it was none, it is forgotten as soon
        ([20.0] * 5 + [25.0] * 3, 20.0),  # a little more might be queues
        ([20.0] * 5 + [25.0] * 4, 25.0),  # the path got longer
        ([2.0] * 5 + [11.0] * 2, 2.0),  # below 10 ms nothing is far
        ([100.0] * 5 + [149.0] * 2, 100.0),  # nor below half of what it was
        ([60.0] * 5 + [20.0], 60.0),  # one low sample may be a slip of the clock
        ([60.0] * 5 + [20.0] * 2, 20.0),  # the path got shorter
    ],
)
def test_the_low_percentile_follows_the_path_and_not_the_queue(
    samples_ms: list[float], expected_ms: float
) -> None:
    assert fed(samples_ms) == expected_ms


def test_old_samples_do_not_count() -> None:
    latency = LatencyFilter()
    latency.add("a", 0.0, 5.0)
    assert latency.add("a", 121.0, 50.0) == 50.0


def test_old_samples_do_not_count_when_nothing_new_comes() -> None:
    latency = LatencyFilter()
    latency.add("a", 0.0, 5.0)
    latency.add("a", 50.0, 50.0)
    assert latency.look("a", 120.0) == FilteredDelay(5.0, 2, 0.0)
    assert latency.look("a", 121.0) == FilteredDelay(50.0, 1, 50.0)
    assert latency.look("a", 171.0) is None
    assert len(latency) == 0


@pytest.mark.parametrize(
    ("samples_ms", "supported_s"),
    [
        ([22.0], 0.0),
        ([22.0, 22.0, 22.0, 66.0], 2.0),  # one far sample may be of another path: it makes nothing newer
        ([22.0, 22.0, 22.0, 27.0], 3.0),  # 5 ms are queues
        ([22.0, 22.0, 22.0, 27.1], 3.0),  # and so are 30 % of the sample
        ([10.0, 10.0, 10.0, 15.1], 2.0),
        ([70.0, 70.0, 70.0, 100.0], 3.0),
        ([70.0, 70.0, 70.0, 101.0], 2.0),
        ([60.0] * 4 + [20.0], 4.0),  # what is below is no reason to doubt
        ([22.0] * 3 + [66.0, 66.0], 4.0),  # believed by now
    ],
)
def test_the_delay_is_as_old_as_the_newest_sample_that_agrees_with_it(
    samples_ms: list[float], supported_s: float
) -> None:
    latency = LatencyFilter()
    for number, sample_ms in enumerate(samples_ms):
        latency.add("a", float(number), sample_ms)
    found = latency.look("a", 10.0)
    assert found is not None
    assert found.supported_s == supported_s


def test_peers_do_not_mix_and_a_forgotten_one_starts_anew() -> None:
    latency = LatencyFilter()
    latency.add("a", 0.0, 5.0)
    assert latency.add("b", 0.0, 50.0) == 50.0
    latency.forget("a")
    assert latency.add("a", 1.0, 70.0) == 70.0
    assert len(latency) == 2


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=30))
def test_the_result_is_always_one_of_the_last_samples(samples_ms: list[float]) -> None:
    assert fed(samples_ms) in samples_ms[-5:]
