"""Delays come from the best source that both ends of a pair have, and the summary says which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.network.cluster import Host
from bridge.network.delays import Provenance, estimate_delays
from bridge.network.links import gather_links
from bridge.network.site_medians import site_medians
from bridge.network_settings import NetworkSettings, SiteDelay
from bridge.readings.believed import Coordinate, NodeReading, Readings

SETTINGS = NetworkSettings(
    hop_overhead_ms=2.0,
    local_delay_ms=0.25,
    unknown_delay_ms=100.0,
    site_delay=(SiteDelay(between=("a", "b"), delay_ms=28.0),),
)


def estimate(*hosts, **measured):
    """Hosts as (name, site, position or None), links as a_1={"b-1": delay} with `_` for `-`."""
    links = {name.replace("_", "-"): fields for name, fields in measured.items()}
    readings = Readings(
        {
            name: NodeReading(
                name,
                site,
                None if at is None else Coordinate(tuple(at), 1.0, 0.08),
                1.0,
                links={peer: link(delay) for peer, delay in links.get(name, {}).items()},
            )
            for name, site, at in hosts
        },
        stale=(),
        uncertain=(),
        faults=(),
        live=True,
    )
    nodes = [Host(name, site, (index,), True, {}) for index, (name, site, _) in enumerate(hosts)]
    return estimate_delays(nodes, readings, SETTINGS, gather_links(nodes, readings, 60.0))


def link(delay):
    """A delay in ms, or a link as it stands in a reading."""
    return delay if isinstance(delay, dict) else {"delay_ms": delay, "age_s": 0.0}


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
    assert delays.sources() == "delays from coordinates 3/4, 1 by site median"


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


@pytest.mark.parametrize("odd", [(1.0,), (1.0, 2.0, 3.0)])
def test_coordinates_of_another_dimension_are_not_compared(odd):
    """The majority's dimension counts, be it lower or higher; the odd host falls back to its site."""
    delays = estimate(("a-1", "a", (0.0, 0.0)), ("a-2", "a", (3.0, 4.0)), ("b-1", "b", odd))
    assert delays.provenance[0].tolist() == [0, Provenance.COORDINATES, Provenance.SITE_TABLE]


def test_the_matrix_is_symmetric_with_a_zero_diagonal():
    """Whatever the sources are."""
    delays = estimate(("a-1", "a", (0.0,)), ("b-1", "b", None), ("c-1", None, (4.0,)), ("d-1", None, None))
    assert np.array_equal(delays.delay_ms, delays.delay_ms.T)
    assert not delays.delay_ms.diagonal().any()


def test_a_cluster_without_hosts_has_no_delays():
    """Nothing to estimate is no error."""
    assert estimate().delay_ms.shape == (0, 0)


def test_a_direct_link_counts_before_coordinates():
    """The pair has the link's delay in both directions, the others what they had; the summary says so."""
    delays = estimate(("a-1", "a", (0.0,)), ("b-1", "b", (7.0,)), ("c-1", "c", (20.0,)), b_1={"a-1": 5.0})
    assert delays.delay_ms[0].tolist() == [0.0, 7.0, 24.0]
    assert delays.delay_ms[1].tolist() == [7.0, 0.0, 17.0]
    assert delays.provenance[0].tolist() == [0, Provenance.MEASURED, Provenance.COORDINATES]
    assert delays.summary() == "delays measured for 1/3 pairs, from coordinates 3/3 (error 8 %)"
    assert delays.faults == ()


def test_direct_links_help_hosts_without_coordinate_and_their_neighbours():
    """a-1 knows b-1 by a link, a-2 by the median between the sites, which that link makes."""
    delays = estimate(("a-1", "a", None), ("a-2", "a", None), ("b-1", "b", None), a_1={"b-1": 6.0})
    assert delays.delay_ms[:, 2].tolist() == [8.0, 8.0, 0.0]
    assert delays.provenance[1, 2] == Provenance.SITE_MEDIAN
    assert (
        delays.summary()
        == "delays measured for 1/3 pairs, from coordinates 0/3, 2 by site median, 1 by site table"
    )


def test_hosts_whose_pairs_are_all_measured_are_counted_by_their_links():
    """Nothing else is left to name of them."""
    delays = estimate(("a-1", "a", None), ("b-1", "b", None), a_1={"b-1": 6.0})
    assert delays.summary() == "delays measured for 1/1 pairs, from coordinates 0/2, 2 by direct links"


def test_contradictory_directions_are_named_and_the_list_is_cut():
    """One phrase per pair without figures, so that it can be logged once; of 28 pairs 20 are named."""
    assert estimate(("a", None, None), ("b", None, None), a={"b": 10.0}, b={"a": 30.0}).faults == (
        "a and b measure different delays to each other",
    )
    names = [f"h{index}" for index in range(8)]
    links = {name: {peer: 10.0 if name < peer else 30.0 for peer in names if peer != name} for name in names}
    faults = estimate(*((name, None, None) for name in names), **links).faults
    assert len(faults) == 21
    assert faults[-1] == "further pairs contradict each other"


def twisted(pairs):
    """Five hosts at site a, five at b; coordinates say 2 ms within sites and 42 ms between, links 30 ms."""
    hosts = [(f"{site}-{k}", site, (at,)) for site, at in (("a", 0.0), ("b", 40.0)) for k in range(5)]
    links = {f"a_{k}": {f"b-{k}": 30.0, f"b-{(k + 1) % 5}": 30.0} for k in range((pairs + 1) // 2)}
    if pairs % 2:
        links[f"a_{pairs // 2}"].popitem()
    return estimate(*hosts, ("c-1", "c", (10.0,)), **links)


def test_coordinates_that_contradict_direct_links_are_not_used():
    """Eight pairs are 40 % off: medians of direct links, site table and uniform stand in, loudly."""
    delays = twisted(8)
    assert not delays.embedding.trusted
    assert delays.embedding.error == pytest.approx(0.4)
    # Linked, not linked but between the same sites, within a site, to a site without any link.
    assert delays.delay_ms[0, [5, 8, 1, 10]].tolist() == [32.0, 32.0, 2.25, 102.0]
    assert delays.provenance[0, [5, 8, 1, 10]].tolist() == [
        Provenance.MEASURED,
        Provenance.SITE_MEDIAN,
        Provenance.SITE_TABLE,
        Provenance.UNIFORM,
    ]
    assert delays.summary() == (
        "delays measured for 8/55 pairs, not from coordinates (median error 40 % over 8 pairs), "
        "10 by site median, 1 uniform"
    )
    assert delays.sources() == (
        "delays not from coordinates, which contradict direct links, 10 by site median, 1 uniform"
    )
    assert delays.faults == ("coordinates contradict direct links: medians between sites stand in for them",)


def test_fewer_than_eight_pairs_do_not_condemn_an_embedding():
    """Seven pairs are as wrong, but few: coordinates go on where there is no link."""
    delays = twisted(7)
    assert delays.embedding.trusted
    assert delays.provenance[0, [5, 8]].tolist() == [Provenance.MEASURED, Provenance.COORDINATES]
    assert delays.faults == ()


@pytest.mark.parametrize(("link_ms", "error"), [(2.5, 0.5 / 2.5), (0.5, 1.5)])
def test_links_below_a_millisecond_count_as_one_in_relative_errors(link_ms, error):
    """Coordinates say 2 ms: what is far below the cost of a hop decides nothing."""
    hosts = [(f"h{k}", "a", (0.0,)) for k in range(9)]
    links = {f"h{k}": {f"h{k + 1}": link_ms} for k in range(8)}
    assert estimate(*hosts, **links).embedding.error == pytest.approx(error)


def test_pairs_that_are_not_probed_have_the_usual_availability_of_links():
    """Median between the sites where one is known, else of all; 1 to oneself, never 0."""
    fields = {"delay_ms": 5.0, "age_s": 0.0}
    delays = estimate(
        ("a-1", "a", None),
        ("a-2", "a", None),
        ("b-1", "b", None),
        ("c-1", "c", None),
        a_1={"b-1": {**fields, "availability": 0.9}, "c-1": {**fields, "availability": 0.0}},
    )
    links = delays.link_availability
    assert np.array_equal(links, links.T)
    assert links.diagonal().tolist() == [1.0] * 4
    assert links[0, 2] == links[1, 2] == 0.9
    assert 0.0 < links[0, 3] < 1e-5
    assert links[0, 1] == links[2, 3] == 0.45


def test_without_a_measured_link_availability_there_is_none():
    """The model then takes links as available."""
    assert estimate(("a", None, None), ("b", None, None), a={"b": 1.0}).link_availability is None


def aged(delay_ms, age_s):
    return {"delay_ms": delay_ms, "age_s": 1.0, "delay_age_s": age_s}


def test_an_outdated_link_gives_way_to_what_fresh_ones_say():
    """The path from a to b went from 22 to 66 ms; a-3's last answer is young, but not its delay."""
    hosts = [(f"a-{n}", "a", (0.0,)) for n in (1, 2, 3)] + [(f"b-{n}", "b", (20.0,)) for n in (1, 2)]
    delays = estimate(
        *hosts,
        ("b-3", "b", None),
        a_1={"b-1": aged(66.0, 1.0), "b-2": aged(66.0, 2.0)},
        a_2={"b-1": aged(66.0, 1.0)},
        a_3={"b-2": aged(22.0, 30.0), "b-3": aged(22.0, 40.0)},
    )
    assert delays.delay_ms[2, 4] == pytest.approx(68.0)
    assert delays.provenance[2, 4] == Provenance.COORDINATES
    assert delays.delay_ms[1, 4] == pytest.approx(68.0)  # by coordinates that say 22 ms
    assert delays.delay_ms[2, 5] == pytest.approx(68.0)
    assert delays.provenance[2, 5] == Provenance.SITE_MEDIAN
    assert (delays.measured_pairs, delays.outdated_pairs) == (3, 2)
    assert delays.summary().startswith("delays measured for 3/15 pairs (2 outdated), from coordinates 5/6")
    assert delays.sources() == "delays from coordinates 5/6, 1 by site median"


@settings(deadline=None)
@given(
    sites=st.lists(st.integers(0, 3), min_size=1, max_size=7),
    values=st.lists(st.floats(0, 100) | st.none(), min_size=49, max_size=49),
)
def test_site_medians_are_those_of_the_known_pairs(sites, values):
    """For each pair of sites that has an unknown pair of hosts; site 3 stands for no site."""
    n = len(sites)
    known = np.array([np.nan if v is None else v for v in values]).reshape(7, 7)[:n, :n]
    known = np.triu(known, 1) + np.triu(known, 1).T
    medians = site_medians(known, np.array(sites), 3)
    for one in range(4):
        for other in range(4):
            pairs = [
                known[i, j]
                for i in range(n)
                for j in range(n)
                if i != j and (sites[i], sites[j]) == (one, other)
            ]
            fields = [value for value in pairs if not np.isnan(value)]
            if 3 in (one, other) or len(fields) == len(pairs) or not fields:
                assert np.isnan(medians[one, other])
            else:
                assert medians[one, other] == pytest.approx(np.median(fields))


@pytest.mark.parametrize("off", [0.0, 0.3])
def test_the_error_of_coordinates_is_how_far_they_are_from_links(off):
    """Not from what takes their place where there is a link."""
    random = np.random.default_rng(0)
    names = [f"a-{k}" for k in range(8)]
    places = random.uniform(0.0, 100.0, (8, 2))
    measured = {
        one.replace("-", "_"): {
            other: (float(np.linalg.norm(places[k] - places[m])) + 2.0) * (1.0 + off)
            for m, other in enumerate(names)
            if m > k
        }
        for k, one in enumerate(names)
    }
    delays = estimate(
        *((name, None, at.tolist()) for name, at in zip(names, places, strict=True)), **measured
    )
    assert delays.errors.of_others == pytest.approx(1.4826 * off / (1.0 + off), abs=1e-6)
