"""What is stated and measured of the ways between sites, put together."""

from __future__ import annotations

import numpy as np
import pytest

from bridge.network.cluster import Host
from bridge.network.site_links import gather_site_links
from bridge.network_settings import NetworkSettings


def hosts(*sites):
    return [Host(f"h{k}", site, (k,), True, {}) for k, site in enumerate(sites)]


def gathered(sites, measured=None, **network):
    return gather_site_links(hosts(*sites), NetworkSettings.model_validate(network), measured or {})


def test_nothing_stated_limits_and_costs_nothing():
    links = gathered(["a", "b", None])
    assert (links.limited, links.cost, links.no_cost) == (False, None, "")
    assert links.site.tolist() == [0, 1, 2]
    assert links.joined.all()


def test_sites_of_hosts_come_first_then_those_of_settings():
    links = gathered(
        ["b", "a"], site=[{"name": "c", "tier": "fog"}], link=[{"between": ["d", "a"], "cost": 1.0}]
    )
    assert links.names == ("b", "a", "c", "d")
    assert [links.index(name) for name in ("a", "d", "nowhere")] == [1, 3, 4]


def test_only_stated_links_make_neighbours():
    links = gathered(["a", "b", "c"], link=[{"between": ["a", "b"], "bandwidth_bytes_per_s": 9.0}])
    assert links.joined[:3, :3].tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_costs_count_if_all_pairs_of_sites_with_hosts_have_one():
    """A site that only the file names may lack some: what is outside Storm there pays the most."""
    stated = [{"between": ["a", "b"], "cost": 3.0}, {"between": ["a", "out"], "cost": 8.0}]
    links = gathered(["a", "b"], link=stated)
    assert links.no_cost == ""
    assert links.cost is not None
    assert links.cost[:3, :3].tolist() == [[0, 3, 8], [3, 0, 8], [8, 8, 0]]


@pytest.mark.parametrize(
    ("sites", "why"),
    [(["a", "b", "c"], "network.link states no cost between a and c"), (["a", "b", None], "h2 has no site")],
)
def test_a_pair_without_a_cost_is_named(sites, why):
    links = gathered(sites, link=[{"between": ["a", "b"], "cost": 3.0}])
    assert (links.cost, links.no_cost) == (None, why)


@pytest.mark.parametrize(("measured", "step"), [(1.3e6, 1.258925e6), (1.0e6, 1e6), (0.99e6, 0.794328e6)])
def test_measured_bandwidths_count_in_steps(measured, step):
    """Where the file states none; rounded down, so that noise moves nothing."""
    links = gathered(["a", "b"], {frozenset(("a", "b")): measured, frozenset(("a", "x")): 5.0})
    assert links.bandwidth[0, 1] == links.bandwidth[1, 0] == pytest.approx(step, rel=1e-6)
    assert np.isinf(links.uplink).all()
    link = {"between": ["b", "a"], "bandwidth_bytes_per_s": 77.0}
    assert gathered(["a", "b"], {frozenset(("a", "b")): measured}, link=[link]).bandwidth[0, 1] == 77.0


def test_some_of_the_hosts_have_the_ways_of_all():
    """Also where one of them has no site."""
    links = gathered(["a", "b", "c"], {frozenset(("b", "c")): 100.0})
    some = links.of_hosts(hosts("c", None, "b"))
    assert some.site.tolist() == [2, 3, 1]
    assert some.limited_pairs.tolist() == [[1, 2]]
    assert some.limits.tolist() == pytest.approx([100.0])
    assert some.bandwidth is links.bandwidth
