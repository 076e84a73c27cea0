"""Rules of Vivaldi: it converges, and nothing that a peer says can break it."""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.agent.vivaldi import Vivaldi, VivaldiParameters
from monitoring.coordinate import MAX_ERROR, Coordinate

if TYPE_CHECKING:
    from collections.abc import Callable

Delays = dict[tuple[str, str], float]
ANYWHERE = Coordinate((3.0, -4.0, 0.0), 1.0, 0.5)


def make(seed: int = 0, start: Coordinate | None = None, **parameters: Any) -> Vivaldi:
    return Vivaldi(VivaldiParameters(**{"dimensions": 3, **parameters}), random.Random(seed), start)


def test_seven_hosts_are_at_most_8_percent_off_after_60_probes(
    simulation: Callable[..., Any], demo_delays_ms: Delays
) -> None:
    errors = [simulation(demo_delays_ms, seed).run_probes(60).median_error() for seed in range(12)]
    assert max(errors) <= 0.08


def test_seven_hosts_with_20_percent_noise_are_at_most_15_percent_off_after_60_s(
    simulation: Callable[..., Any], demo_delays_ms: Delays
) -> None:
    def noisy(rng: random.Random, delay_ms: float) -> float:
        return delay_ms * rng.uniform(0.8, 1.2)

    errors = [simulation(demo_delays_ms, seed, disturb=noisy).run(60).median_error() for seed in range(12)]
    assert max(errors) <= 0.15


def test_seven_hosts_with_queues_on_every_third_probe_are_at_most_8_percent_off_after_60_s(
    simulation: Callable[..., Any], demo_delays_ms: Delays
) -> None:
    def queued(rng: random.Random, delay_ms: float) -> float:
        return delay_ms + (rng.expovariate(1 / 40) if rng.random() < 0.3 else 0.0)

    errors = [simulation(demo_delays_ms, seed, disturb=queued).run(60).median_error() for seed in range(12)]
    assert max(errors) <= 0.08


def test_thirty_two_hosts_are_at_most_10_percent_and_nine_of_ten_pairs_25_percent_off_after_90_s(
    simulation: Callable[..., Any], table_5_delays_ms: Delays
) -> None:
    runs = [sorted(simulation(table_5_delays_ms, seed).run(90).relative_errors()) for seed in range(3)]
    assert max(map(statistics.median, runs)) <= 0.10
    # one pair in eight is in the same data centre, where 25 % are 0.06 ms: the mean over seeds counts
    assert sum(errors[int(0.9 * len(errors))] for errors in runs) / len(runs) <= 0.25


def test_a_near_peer_counts_whole_and_a_far_one_less_once_the_host_is_sure() -> None:
    def share(delay_ms: float) -> float:
        vivaldi = make(start=Coordinate((0.0, 0.0, 0.0), 0.01, 0.05))
        vivaldi.observe(delay_ms, Coordinate((100.0, 0.0, 0.0), 0.01, 0.05))
        return vivaldi.coordinate.position_ms[0] / (100.0 - delay_ms)

    assert share(1.0) == pytest.approx(0.25, rel=0.02)
    assert share(50.0) == pytest.approx(0.025, rel=0.1)


@pytest.mark.parametrize(
    ("error", "share"),
    [(0.0, 0.0125), (0.01, 0.0125), (0.05, 0.025), (0.25, 0.125), (0.5, 0.25), (1.0, 0.25)],
)
def test_the_timestep_shrinks_with_the_hosts_error_but_not_to_nothing(error: float, share: float) -> None:
    """c_c 0.5 times the half that is the host's; in proportion below an error of 0.5, never below 5 %."""
    vivaldi = make(start=Coordinate((0.0, 0.0, 0.0), 0.01, error))
    vivaldi.observe(90.0, Coordinate((100.0, 0.0, 0.0), 0.01, error))
    assert vivaldi.coordinate.position_ms[0] == pytest.approx(share * 10.0, rel=0.01)


@pytest.mark.parametrize(("delay_ms", "away_ms"), [(20.0, 1.25), (12.0, -0.75)])
def test_position_and_height_share_a_step_as_they_share_the_delay(delay_ms: float, away_ms: float) -> None:
    """10 of 15 ms lie between the positions and 5 ms in the heights (section 5.4 of the paper)."""
    vivaldi = make(start=Coordinate((10.0, 0.0, 0.0), 3.0, 0.5))
    vivaldi.observe(delay_ms, Coordinate((0.0, 0.0, 0.0), 2.0, 0.5))
    assert vivaldi.coordinate.position_ms == pytest.approx((10.0 + away_ms * 10 / 15, 0.0, 0.0), abs=1e-4)
    assert vivaldi.coordinate.height_ms == pytest.approx(3.0 + away_ms * 5 / 15)


def test_two_hosts_at_one_place_without_heights_part() -> None:
    """No share of a delay lies anywhere then: the position takes the whole step."""
    vivaldi = make(start=Coordinate((0.0, 0.0, 0.0), 0.0, 0.5))
    assert vivaldi.observe(10.0, Coordinate((0.0, 0.0, 0.0), 0.0, 0.5))
    assert math.hypot(*vivaldi.coordinate.position_ms) == pytest.approx(2.5, rel=1e-3)
    assert vivaldi.coordinate.height_ms == 0.01


def test_a_link_that_triples_is_followed_within_60_s(
    simulation: Callable[..., Any], demo_delays_ms: Delays
) -> None:
    for seed in range(10):
        network = simulation(demo_delays_ms, seed).run(60)
        for pair in demo_delays_ms:
            if {name.split("-")[0] for name in pair} == {"uniroma2", "west1"}:
                network.delay_ms = {**network.delay_ms, pair: 84.0}
        assert network.run(120).median_error() <= 0.15


@pytest.mark.parametrize("dimensions", [2, 3, 5, 8])
def test_it_converges_in_any_number_of_dimensions(
    simulation: Callable[..., Any], demo_delays_ms: Delays, dimensions: int
) -> None:
    network = simulation(demo_delays_ms, 1, VivaldiParameters(dimensions=dimensions)).run(90)
    assert network.median_error() <= 0.08


def test_delays_against_the_triangle_inequality_stay_finite_and_show_in_the_error(
    simulation: Callable[..., Any],
) -> None:
    impossible = {(a, b): 1.0 for a in "abc" for b in "abc" if a != b}
    impossible["a", "b"] = impossible["b", "a"] = 500.0
    network = simulation(impossible, 3).run(600)
    for host in network.hosts.values():
        assert host.vivaldi.coordinate.fault(5) == ""
        assert math.hypot(*host.vivaldi.coordinate.position_ms) < 1000
    assert max(host.vivaldi.coordinate.error for host in network.hosts.values()) > 0.25


def test_gravity_brings_a_far_away_system_back_towards_the_origin() -> None:
    def centre_ms(gravity_ms: float) -> float:
        places = [Coordinate((5000.0, 0.0, 0.0), 0.1, 0.2), Coordinate((5050.0, 0.0, 0.0), 0.1, 0.2)]
        a, b = (make(seed, place, gravity_ms=gravity_ms) for seed, place in enumerate(places))
        for _ in range(500):
            a.observe(50.0, b.coordinate)
            b.observe(50.0, a.coordinate)
        return a.coordinate.position_ms[0]

    assert centre_ms(2000.0) < 4000
    assert centre_ms(1e9) > 4900


@pytest.mark.parametrize("delay_ms", [math.nan, math.inf, -math.inf, -1.0, 1e9])
def test_an_impossible_delay_changes_nothing(delay_ms: float) -> None:
    vivaldi = make()
    before = vivaldi.coordinate
    assert not vivaldi.observe(delay_ms, ANYWHERE)
    assert vivaldi.coordinate == before


@pytest.mark.parametrize(
    "place",
    [
        Coordinate((math.nan, 0.0, 0.0), 1.0, 0.5),
        Coordinate((0.0, 0.0), 1.0, 0.5),
        Coordinate((0.0, 0.0, 0.0), -1.0, 0.5),
        Coordinate((1e12, 0.0, 0.0), 1.0, 0.5),
    ],
)
def test_an_impossible_coordinate_changes_nothing(place: Coordinate) -> None:
    vivaldi = make()
    before = vivaldi.coordinate
    assert not vivaldi.observe(10.0, place)
    assert vivaldi.coordinate == before


def test_coarse_clocks_that_measure_zero_draw_hosts_together_without_harm() -> None:
    a, b = (make(seed, Coordinate((3.0 * seed, 0.0, 0.0), 1.0, 0.5)) for seed in (1, 2))
    for _ in range(200):
        a.observe(0.0, b.coordinate)
        b.observe(0.0, a.coordinate)
    assert a.coordinate.delay_ms(b.coordinate) < 0.1
    assert min(a.coordinate.height_ms, b.coordinate.height_ms) >= 0.01


def test_a_zero_delay_counts_as_a_very_small_one() -> None:
    vivaldi = make(start=Coordinate((1.0, 1.0, 1.0), 5.0, 0.5))
    assert vivaldi.observe(0.0, ANYWHERE)
    assert vivaldi.coordinate.delay_ms(ANYWHERE) < Coordinate((1.0, 1.0, 1.0), 5.0, 0.5).delay_ms(ANYWHERE)


def test_coincident_hosts_part_in_a_direction_that_the_seed_decides() -> None:
    def parted(seed: int) -> Coordinate:
        vivaldi = make(seed)
        vivaldi.observe(50.0, vivaldi.coordinate)
        return vivaldi.coordinate

    assert math.hypot(*parted(1).position_ms) > 1
    assert parted(1) == parted(1) != parted(2)


def test_a_sure_host_moves_little_for_an_unsure_peer_and_the_other_way_round() -> None:
    def moved_ms(own_error: float, remote_error: float) -> float:
        start = Coordinate((10.0, 0.0, 0.0), 0.01, own_error)
        vivaldi = make(start=start)
        vivaldi.observe(20.0, Coordinate((0.0, 0.0, 0.0), 0.01, remote_error))
        return math.dist(vivaldi.coordinate.position_ms, start.position_ms)

    # 10 ms off, times c_c 0.5, times the share of the error that is the host's own (figure 3 of the paper);
    # the first host is sure of itself and takes a fifth of that timestep
    assert moved_ms(0.1, 0.9) == pytest.approx(0.1, rel=0.02)
    assert moved_ms(0.5, 0.5) == pytest.approx(2.5, rel=0.02)
    assert moved_ms(0.9, 0.1) == pytest.approx(4.5, rel=0.02)


def test_no_single_sample_moves_a_host_farther_than_the_limit() -> None:
    vivaldi = make(max_step_ms=20.0)
    vivaldi.observe(9000.0, ANYWHERE)
    assert math.hypot(*vivaldi.coordinate.position_ms) + vivaldi.coordinate.height_ms <= 20.02


numbers_ms = st.floats(-20_000, 20_000)
places = st.builds(
    Coordinate,
    st.tuples(numbers_ms, numbers_ms, numbers_ms),
    st.one_of(st.just(0.0), st.floats(0, 1000)),
    st.one_of(st.just(0.0), st.floats(0, MAX_ERROR)),
)


@given(st.lists(st.tuples(st.floats(0, 10_000), places), max_size=40), st.one_of(st.none(), places))
def test_whatever_peers_say_the_coordinate_stays_usable(
    samples: list[tuple[float, Coordinate]], start: Coordinate | None
) -> None:
    vivaldi = make(start=start)
    for delay_ms, place in samples:
        assert vivaldi.observe(delay_ms, place)
        assert vivaldi.coordinate.fault(3) == ""
        assert vivaldi.coordinate.height_ms >= 0.01
