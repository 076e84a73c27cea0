"""Delays come from the best source that both ends of a pair have, and the summary says which."""

from __future__ import annotations

import numpy as np
import pytest

from bridge.cluster import Host
from bridge.delays import Provenance, estimate_delays
from bridge.readings import Coordinate, NodeReading, Readings
from bridge.settings import NetworkSettings, SiteDelay

SETTINGS = NetworkSettings(
    hop_overhead_ms=2.0,
    local_delay_ms=0.25,
    unknown_delay_ms=100.0,
    site_delay=(SiteDelay(between=("a", "b"), delay_ms=28.0),),
)


def estimate(*hosts):
    """Hosts as (name, site, position or None)."""
    readings = Readings(
        {
            name: NodeReading(name, site, Coordinate(tuple(at), 1.0, 0.08), 1.0)
            for name, site, at in hosts
            if at is not None
        },
        stale=(),
        uncertain=(),
        faults=(),
        live=True,
    )
    nodes = [Host(name, site, (index,), True, {}) for index, (name, site, _) in enumerate(hosts)]
    return estimate_delays(nodes, readings, SETTINGS)


def test_coordinates_give_distance_plus_heights_plus_overhead():
    """3-4-5: |(0,0) - (3,4)| + 1 + 1, and 2 for leaving the worker."""
    delays = estimate(("a-1", "a", (0.0, 0.0)), ("b-1", "b", (3.0, 4.0)))
    assert delays.delay_ms.tolist() == [[0.0, 9.0], [9.0, 0.0]]
    assert delays.summary() == "delays from coordinates 2/2 (error 8 %)"


def test_a_host_without_coordinate_takes_the_median_of_its_sites():
    """Two measured pairs between a and b, 7 and 9 ms: their median, and the summary counts the host."""
    delays = estimate(("a-1", "a", (0.0,)), ("a-2", "a", (2.0,)), ("b-1", "b", (7.0,)), ("b-2", "b", None))
    assert delays.delay_ms[0, 3] == pytest.approx((9.0 + 7.0) / 2 + 2.0)
    assert delays.provenance[0, 3] == Provenance.SITE_MEDIAN
    # No other pair within b is measured: the local delay stands in.
    assert delays.delay_ms[2, 3] == pytest.approx(0.25 + 2.0)
    assert delays.summary() == "delays from coordinates 3/4 (error 8 %), 1 by site median"


def test_without_coordinates_the_site_table_counts_then_nothing_is_known():
    """a - b is in the table, a - c is not, and one site is near itself."""
    delays = estimate(("a-1", "a", None), ("a-2", "a", None), ("b-1", "b", None), ("c-1", "c", None))
    assert delays.delay_ms[0].tolist() == [0.0, 2.25, 30.0, 102.0]
    assert delays.provenance[0].tolist() == [
        0,
        Provenance.SITE_TABLE,
        Provenance.SITE_TABLE,
        Provenance.UNIFORM,
    ]
    assert delays.summary() == "delays from coordinates 0/4, 3 by site table, 1 uniform"


def test_without_sites_and_readings_all_delays_are_equal():
    """Uniform, never zero: a host of which nothing is known must not look near."""
    delays = estimate(("a", None, None), ("b", None, None), ("c", None, None))
    assert np.unique(delays.delay_ms[~np.eye(3, dtype=bool)]).tolist() == [102.0]
    assert delays.summary() == "delays from coordinates 0/3, 3 uniform"


def test_coordinates_of_another_dimension_are_not_compared():
    """The majority's dimension counts; the odd host falls back to its site."""
    delays = estimate(("a-1", "a", (0.0, 0.0)), ("a-2", "a", (3.0, 4.0)), ("b-1", "b", (1.0,)))
    assert delays.provenance[0].tolist() == [0, Provenance.COORDINATES, Provenance.SITE_TABLE]


def test_the_matrix_is_symmetric_with_a_zero_diagonal():
    """Whatever the sources are."""
    delays = estimate(("a-1", "a", (0.0,)), ("b-1", "b", None), ("c-1", None, (4.0,)), ("d-1", None, None))
    assert np.array_equal(delays.delay_ms, delays.delay_ms.T)
    assert not delays.delay_ms.diagonal().any()


def test_a_cluster_without_hosts_has_no_delays():
    """Nothing to estimate is no error."""
    assert estimate().delay_ms.shape == (0, 0)
