"""Geographic and heterogeneous networks."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.instances.generators.brite import two_level_waxman
from scheduler.instances.generators.geographic import Geography, geographic_network
from scheduler.instances.generators.heterogeneous import NodeChoices, heterogeneous, roomy_node
from scheduler.model.link_table import Coordinates


def test_a_geographic_network_has_every_site_and_keeps_coordinates() -> None:
    network = geographic_network(10_000, 50, np.random.default_rng(4))
    assert len(network.nodes) == 10_000
    assert len({node.site for node in network.nodes}) == 50
    assert isinstance(network.delays, Coordinates)
    assert network.delays.count == 10_000


def test_nodes_of_a_site_are_closer_than_nodes_of_different_sites() -> None:
    network = geographic_network(60, 5, np.random.default_rng(4))
    same = np.array([[a.site == b.site for b in network.nodes] for a in network.nodes])
    elsewhere = ~np.eye(60, dtype=bool)
    assert network.delay_ms[same & elsewhere].mean() < 0.2 * network.delay_ms[~same].mean()


@pytest.mark.parametrize(("nodes", "sites", "place"), [(3, 4, "nodes"), (3, 0, "sites")])
def test_fewer_nodes_than_sites_are_refused(nodes, sites, place) -> None:
    with pytest.raises(ModelError, match=place):
        geographic_network(nodes, sites, np.random.default_rng(0))


@pytest.mark.parametrize("wrong", [{"side_ms": 0.0}, {"spread_ms": -1.0}, {"height_ms": (2.0, 1.0)}])
def test_a_geography_out_of_range_is_refused(wrong) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        Geography(**wrong)


def test_nodes_draw_from_the_choices_and_keep_the_rest() -> None:
    plain = two_level_waxman(5, 5, np.random.default_rng(1))
    choices = NodeChoices(speedup=(0.5, 2.0), slots=(1.0, 4.0), cost=(3.0, 7.0))
    varied = heterogeneous(plain, choices, np.random.default_rng(2))
    assert set(varied.speedup.tolist()) == {0.5, 2.0}
    assert {node.capacity["slots"] for node in varied.nodes} == {1.0, 4.0}
    assert set(varied.cost.tolist()) == {3.0, 7.0}
    assert (varied.delay_ms == plain.delay_ms).all()
    assert (varied.availability == plain.availability).all()


def test_without_choices_the_network_stays() -> None:
    plain = two_level_waxman(2, 2, np.random.default_rng(1))
    assert heterogeneous(plain, NodeChoices(), np.random.default_rng(2)).nodes == plain.nodes


def test_source_and_sink_get_a_node_with_room() -> None:
    plain = two_level_waxman(5, 5, np.random.default_rng(1))
    varied = heterogeneous(plain, NodeChoices(slots=(1.0, 2.0)), np.random.default_rng(2))
    for seed in range(10):
        home = roomy_node(varied, 2.0, np.random.default_rng(seed))
        assert varied.nodes[varied.index[home]].capacity["slots"] == 2.0
    with pytest.raises(ModelError, match="slots"):
        roomy_node(plain, 3.0, np.random.default_rng(0))
