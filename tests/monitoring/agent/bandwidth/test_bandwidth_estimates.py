"""An estimate is the median of the last trains, and is not there before it is sure."""

from __future__ import annotations

from statistics import median

import pytest

from monitoring.agent.bandwidth.bandwidth_estimates import (
    KEPT_TRAINS,
    LEAST_TRAINS,
    LIFETIME_S,
    BandwidthEstimates,
    train_rate,
)
from monitoring.agent.bandwidth.train_messages import Result
from monitoring.reading import Bandwidth


def of(*rates: float) -> BandwidthEstimates:
    """Trains to `p`, one per second from 1 s on."""
    estimates = BandwidthEstimates()
    for at_s, rate in enumerate(rates, 1):
        estimates.add("p", rate, float(at_s))
    return estimates


def test_there_is_no_estimate_before_enough_trains_arrived() -> None:
    assert of(*[5.0] * (LEAST_TRAINS - 1)).look("p", 5.0) is None
    assert of(*[5.0] * LEAST_TRAINS).look("p", 6.0) == Bandwidth(5.0, 1.0)
    assert BandwidthEstimates().look("p", 5.0) is None


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((10, 10, 10, 10, 10), 10),
        ((10, 3, 10, 10, 1), 10),  # others sent in between: trains became longer
        ((10, 900, 10, 10, 900), 10),  # trains were pushed together
        ((9, 10, 11, 10, 900, 4, 900, 4, 10), 10),
    ],
)
def test_the_median_of_the_trains_counts(rates: tuple[float, ...], expected: float) -> None:
    estimate = of(*rates).look("p", 10.0)
    assert estimate is not None
    assert estimate.bytes_per_s == expected


@pytest.mark.parametrize("after", [1.0, 100.0])
def test_a_link_that_changes_shows_after_five_trains(after: float) -> None:
    for count, expected in ((4, 10.0), (5, after)):
        estimate = of(*[10.0] * KEPT_TRAINS, *[after] * count).look("p", 20.0)
        assert estimate is not None
        assert estimate.bytes_per_s == expected


@pytest.mark.parametrize(
    ("gaps_us", "rate"),
    [
        ((1000,) * 7, 1e6),
        ((1000, 1000, 2000, 1000, 1000, 1000, 1000), 0.875e6),  # a packet of another sender
        ((5, 2, 2, 1000, 1000, 1000, 1000), 1e6),  # the first ones had to wait for the fourth
        ((3, 3, 3, 4000, 3, 3, 3), 1.742e6),  # two bunches
        ((2,) * 7, 500e6),
    ],
)
def test_the_rate_of_a_train_is_the_lower_of_the_whole_and_of_its_median_packet(
    gaps_us: tuple[int, ...], rate: float
) -> None:
    """Packets of 1,000 bytes."""
    result = Result(1, 8, 8, 0, 1000 * sum(gaps_us), 1000 * int(median(gaps_us)))
    assert train_rate(result, 1_000) == pytest.approx(rate, rel=1e-3)


def test_trains_age_out() -> None:
    """The first of five trains is gone after half an hour, and with it the estimate."""
    estimates = of(*[5.0] * LEAST_TRAINS)
    assert estimates.look("p", 1.0 + LIFETIME_S - 0.1) is not None
    assert estimates.look("p", 1.0 + LIFETIME_S) is None
    assert estimates.trains("p", 1.0 + LIFETIME_S) == LEAST_TRAINS - 1
    assert estimates.trains("p", 5.0 + LIFETIME_S) == 0


def test_one_slow_train_does_not_call_a_path_narrow_but_two_do() -> None:
    assert of(1.0).lowest(2.0) is None
    assert of(1.0, 10.0).lowest(2.0) == 10.0
    assert of(1.0, 1.5, 10.0).lowest(3.0) == 1.5


def test_the_lowest_is_that_of_all_peers() -> None:
    estimates = of(10.0, 10.0)
    for at_s in (1.0, 2.0):
        estimates.add("q", 3.0, at_s)
    assert estimates.lowest(2.0) == 3.0
    assert (estimates.cautious("p", 2.0), estimates.cautious("r", 2.0)) == (10.0, None)
