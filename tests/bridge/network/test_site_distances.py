"""Some hosts of each site show how far sites lie apart."""

from __future__ import annotations

import numpy as np
import pytest

from bridge.network.cluster import Host
from bridge.network.delays import estimate_delays
from bridge.network.site_distances import hosts_of_all_sites, site_steps
from bridge.network_settings import NetworkSettings, SiteDelay
from bridge.readings.believed import Coordinate, NodeReading, Readings

SETTINGS = NetworkSettings(hop_overhead_ms=2.0, local_delay_ms=0.5, unknown_delay_ms=100.0)


def _hosts(*sites: str | None) -> list[Host]:
    return [Host(f"h{index}", site, (index,), True, {}) for index, site in enumerate(sites)]


def _readings(hosts, positions) -> Readings:
    """Coordinates on a line, by host."""
    by_host = {
        host.name: NodeReading(host.name, host.site, Coordinate((float(at),), 0.0, 0.1), 1.0)
        for host, at in zip(hosts, positions, strict=True)
        if at is not None
    }
    return Readings(by_host, stale=(), uncertain=(), faults=(), live=True)


def _steps(sites, positions, names, settings=SETTINGS):
    hosts = _hosts(*sites)
    return site_steps(estimate_delays(hosts, _readings(hosts, positions), settings), hosts, names, settings)


def test_few_hosts_are_taken_as_they_are() -> None:
    hosts = _hosts("a", None, "b")
    assert hosts_of_all_sites(hosts, _readings(hosts, (None,) * 3), 3) == tuple(hosts)


def test_of_many_hosts_each_site_has_its_share() -> None:
    """A site of one host among large ones is not lost."""
    hosts = _hosts(*["a"] * 50, "b", *["c"] * 50, None)
    chosen = hosts_of_all_sites(hosts, _readings(hosts, (None,) * len(hosts)), 8)
    assert [host.site for host in chosen] == ["a"] * 3 + ["b"] + ["c"] * 3 + [None]


def test_hosts_with_a_reading_are_asked_first() -> None:
    hosts = _hosts(*["a"] * 10)
    positions = [5.0 if index == 7 else None for index in range(10)]
    assert [host.name for host in hosts_of_all_sites(hosts, _readings(hosts, positions), 1)] == ["h7"]


def test_steps_are_multiples_of_the_delay_within_sites() -> None:
    """Hosts of a site are 1 ms apart, the sites 10 ms."""
    steps = _steps(["a", "a", "b", "b"], [0.0, 1.0, 10.5, 9.5], ["a", "b"])
    assert steps.tolist() == pytest.approx(np.array([[0.0, 9.5], [9.5, 0.0]]))


def test_a_site_that_is_not_known_is_as_far_as_is_set() -> None:
    steps = _steps(["a", "a", "b"], [0.0, 1.0, 11.0], ["", "a", "b", "z"])
    assert steps[1].tolist() == pytest.approx([100.0, 0.0, 10.5, 100.0])


def test_a_table_of_delays_counts_where_nothing_is_measured() -> None:
    table = SETTINGS.model_copy(update={"site_delay": (SiteDelay(between=("a", "b"), delay_ms=20.0),)})
    steps = _steps(["a", "a", "b"], [None] * 3, ["a", "b"], table)
    assert steps[0, 1] == pytest.approx(40.0)


def test_no_step_is_shorter_than_one_within_a_site() -> None:
    assert _steps(["a", "a", "b"], [0.0, 5.0, 1.0], ["a", "b"])[0, 1] == 1.0


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert _steps([None, None], [None, None], [""]) is None
