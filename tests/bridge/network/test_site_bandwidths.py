"""Between two sites the median over the measured pairs of their hosts counts."""

from __future__ import annotations

import numpy as np

from bridge.network.cluster import Host
from bridge.network.links import NO_LINKS, gather_links
from bridge.network.site_bandwidths import site_bandwidths
from bridge.readings.believed import NodeReading, Readings

SITES = {"e1": "edge", "e2": "edge", "f1": "fog", "f2": "fog", "c1": "cloud", "lost": None}
HOSTS = [Host(name, site, (index,), True, {}) for index, (name, site) in enumerate(SITES.items())]


def of(**measured: dict[str, float]) -> dict[frozenset[str], float]:
    """Bandwidths by source and target; every other link is there without one."""
    by_host = {}
    for name in SITES:
        links = {peer: {"delay_ms": 1.0, "age_s": 1.0} for peer in SITES if peer != name}
        for peer, bytes_per_s in measured.get(name, {}).items():
            links[peer]["bandwidth_bytes_per_s"] = bytes_per_s
        by_host[name] = NodeReading(name, None, None, 1.0, links=links)
    return dict(site_bandwidths(HOSTS, gather_links(HOSTS, Readings(by_host, (), (), (), live=True), 60.0)))


def test_nothing_measured_is_no_bandwidth() -> None:
    assert of() == {}
    assert site_bandwidths(HOSTS, NO_LINKS) == {}


def test_the_median_over_pairs_counts_and_of_a_pair_the_lower_direction() -> None:
    """Pairs e1-f1 with 2, e1-f2 with 4 and e2-f1 with 9 MB/s."""
    found = of(e1={"f1": 5e6, "f2": 4e6}, f1={"e1": 2e6, "e2": 9e6})
    assert found == {frozenset(("edge", "fog")): 4e6}


def test_each_pair_of_sites_has_its_own() -> None:
    found = of(e1={"f1": 1e6, "c1": 3e6}, c1={"f2": 2e6})
    assert found == {
        frozenset(("edge", "fog")): 1e6,
        frozenset(("edge", "cloud")): 3e6,
        frozenset(("fog", "cloud")): 2e6,
    }


def test_hosts_of_one_site_and_of_no_known_site_count_for_nothing() -> None:
    assert of(e1={"e2": 1e6, "lost": 1e6}, lost={"f1": 1e6}) == {}


def test_values_are_plain_numbers() -> None:
    """Not of the array's kind: they go into files and messages."""
    (value,) = of(e1={"f1": 1e6}).values()
    assert type(value) is float
    assert not isinstance(value, np.floating)
