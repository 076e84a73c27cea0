"""The paper's problems: shapes, sizes, delays and determinism."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.instances.generators.applications import diamond, replicated, sequential
from scheduler.instances.generators.brite import ROUTER_LEVEL, NodeTraits, two_level_waxman
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES, SIZES, paper_problem
from scheduler.instances.generators.waxman import WaxmanLevel, waxman
from scheduler.instances.writing import to_document


@pytest.mark.parametrize(("make", "streams"), [(sequential, 19), (diamond, 36), (replicated, 12 + 72 + 6)])
def test_the_applications_have_the_layers_of_the_paper(make, streams) -> None:
    application = make(20, "home")
    assert len(application.operators) == 20
    assert len(application.streams) == streams
    pinned = [k for k, each in enumerate(application.operators) if each.allowed == ("home",)]
    assert pinned == [0, 19]


@pytest.mark.parametrize(("make", "operators"), [(sequential, 1), (diamond, 2), (replicated, 19)])
def test_a_number_of_operators_that_no_shape_has_is_refused(make, operators) -> None:
    with pytest.raises(ModelError, match="operators"):
        make(operators)


@pytest.mark.parametrize("nodes", SIZES)
def test_networks_have_the_parameters_of_table_1(nodes: int) -> None:
    network = paper_problem("diamond", nodes, OBJECTIVES["R"], 1).network
    off_diagonal = network.delay_ms[~np.eye(nodes, dtype=bool)]
    assert len(network.nodes) == nodes
    assert off_diagonal.mean() == pytest.approx(17.0)
    assert network.availability.min() >= 0.97
    assert network.availability.max() <= 0.9999999
    assert {tuple(each.capacity.items()) for each in network.nodes} == {(("slots", 2.0),)}


def test_logical_delays_are_shortest_paths() -> None:
    """No detour over a third node is shorter than the direct logical link."""
    delay = two_level_waxman(4, 5, np.random.default_rng(3)).delay_ms
    assert (delay == delay.T).all()
    for k in range(20):
        assert (delay <= delay[:, k, None] + delay[None, k, :] + 1e-9).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 10, 40])
@pytest.mark.parametrize("links", [1, 2, 3])
def test_a_waxman_graph_is_connected(count: int, links: int) -> None:
    level = WaxmanLevel(1000.0, 100.0, links_per_node=links)
    for seed in range(5):
        drawn = waxman(count, level, np.random.default_rng(seed))
        graph: nx.Graph[int] = nx.Graph(drawn.edges)
        graph.add_nodes_from(range(count))
        assert nx.is_connected(graph)
        assert all(u < v for u, v in drawn.edges)


def test_short_links_are_more_likely_than_long_ones() -> None:
    """The mean link of a Waxman graph is clearly shorter than the mean distance of its nodes."""
    drawn = waxman(200, ROUTER_LEVEL, np.random.default_rng(0))
    links = [np.linalg.norm(drawn.points[u] - drawn.points[v]) for u, v in drawn.edges]
    distance = np.linalg.norm(drawn.points[:, None] - drawn.points[None], axis=2)
    assert np.mean(links) < 0.8 * distance.mean()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_same_seed_gives_the_same_problem_and_another_seed_another_one(application: str) -> None:
    first, again, other = (
        to_document(paper_problem(application, 36, OBJECTIVES["Z"], seed)) for seed in (5, 5, 6)
    )
    assert first == again
    assert first["network"] != other["network"]


def test_application_and_objective_do_not_change_the_network() -> None:
    networks = [
        to_document(paper_problem(application, 36, OBJECTIVES[objective], 2))["network"]
        for application, objective in (("diamond", "R"), ("replicated", "equal"))
    ]
    assert networks[0] == networks[1]


@pytest.mark.parametrize(
    ("application", "nodes", "seed", "place"),
    [
        ("ring", 36, 0, "application"),
        ("diamond", 35, 0, "nodes"),
        ("diamond", -4, 0, "nodes"),
        ("diamond", 36, -1, "seed"),
    ],
)
def test_bad_arguments_are_refused_with_their_place(application, nodes, seed, place) -> None:
    with pytest.raises(ModelError) as refusal:
        paper_problem(application, nodes, OBJECTIVES["R"], seed)
    assert refusal.value.where == place


def test_bad_parameters_of_a_network_are_refused() -> None:
    random = np.random.default_rng(0)
    with pytest.raises(ModelError, match="mean_delay_ms"):
        two_level_waxman(2, 2, random, mean_delay_ms=0.0)
    with pytest.raises(ModelError, match="count"):
        two_level_waxman(0, 2, random)
    with pytest.raises(ModelError, match="beta"):
        WaxmanLevel(1000.0, 100.0, beta=0.0)
    with pytest.raises(ModelError, match="links_per_node"):
        WaxmanLevel(1000.0, 100.0, links_per_node=0)
    with pytest.raises(ModelError, match="availability"):
        NodeTraits({"slots": 1.0}, availability=(0.9, 0.8))
