from __future__ import annotations

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS, TierCounts, edge_fog_cloud
from scheduler.instances.generators.terminal_graphs import SETS, many_graphs, paper_problem
from scheduler.instances.writing import to_document

TABLE_III = {
    1: (5, 17, 8, 0, 4, 2),
    2: (6, 20, 10, 0, 4, 4),
    3: (7, 24, 10, 1, 4, 5),
    4: (8, 28, 11, 3, 5, 6),
    5: (9, 32, 12, 3, 6, 6),
    6: (10, 35, 13, 4, 8, 7),
    7: (11, 39, 15, 4, 9, 7),
    8: (12, 44, 16, 4, 10, 7),
    9: (13, 47, 17, 4, 12, 7),
    10: (14, 50, 17, 5, 12, 8),
    11: (15, 54, 20, 5, 13, 9),
}
"""Graphs, operators, sources and sinks at the edge and in the cloud, by set; four printed sinks corrected."""


@pytest.mark.parametrize("graph_set", SETS)
def test_every_row_of_the_table(graph_set: int) -> None:
    problem = paper_problem(1, graph_set, seed=3)
    application, nodes = problem.application, problem.network.nodes

    def ends(role: str, tier: str) -> int:
        return sum(
            each.role == role and nodes[problem.network.index[(each.allowed or ("",))[0]]].tier == tier
            for each in application.operators
            if each.role != "operator"
        )

    found = (
        application.graphs.count,
        int((~application.terminal).sum()),
        ends("source", "edge"),
        ends("source", "cloud"),
        ends("sink", "edge"),
        ends("sink", "cloud"),
    )
    assert found == TABLE_III[graph_set]


def test_the_largest_set_has_as_many_flows_as_the_facts_say() -> None:
    application = paper_problem(3, 11, seed=0).application
    free = ~application.terminal

    assert len(application.streams) == 94
    assert int((free[application.stream_source] & free[application.stream_target]).sum()) == 47


@pytest.mark.parametrize("number", UNDERLAYS)
def test_networks(number: int) -> None:
    counts = UNDERLAYS[number]
    network = edge_fog_cloud(counts, np.random.default_rng(number), edge_bandwidth=4.0)
    tiers = [node.tier for node in network.nodes]

    assert [tiers.count(each) for each in ("cloud", "fog", "edge")] == [counts.cloud, counts.fog, counts.edge]
    assert network.underlay is not None
    between = [each.between for each in network.underlay.links]
    for name in (node.name for node in network.nodes if node.tier == "fog"):
        assert sum(name in pair and "c" in pair[0] + pair[1] for pair in between) == 1
    widths = {each.bandwidth_bytes_per_s for each in network.underlay.links if "e" in "".join(each.between)}
    assert widths <= {4.0 * k for k in range(10, 31)}


def test_as_many_graphs_as_nodes() -> None:
    """Of a network twice as large as the largest, whose nodes have about as many links as there."""
    problem = many_graphs(2, 0)
    underlay, once = problem.network.underlay, many_graphs(1, 0).network.underlay
    assert underlay is not None
    assert once is not None
    tiers = [node.tier for node in problem.network.nodes]

    assert len(tiers) == 200
    assert problem.application.graphs.count == 200
    assert int((~problem.application.terminal).sum()) == 799
    assert [tiers.count(each) for each in ("cloud", "fog", "edge")] == [
        2 * each for each in (UNDERLAYS[3].cloud, UNDERLAYS[3].fog, UNDERLAYS[3].edge)
    ]
    of_edge = [
        sum("e" in first + second for first, second in (each.between for each in of.links))
        for of in (underlay, once)
    ]
    assert of_edge[0] / of_edge[1] == pytest.approx(2.0, rel=0.2)


def test_a_larger_set_contains_the_smaller_one() -> None:
    small, large = (to_document(paper_problem(1, k, seed=5))["application"] for k in (1, 2))

    assert large["operators"][: len(small["operators"])] == small["operators"]
    assert large["streams"][: len(small["streams"])] == small["streams"]


@pytest.mark.parametrize(
    ("prices", "least", "most"), [("pair", 10, 30), ("load", 20, 150), ("node", 20, 150)]
)
def test_readings_of_prices(prices: str, least: float, most: float) -> None:
    problem = paper_problem(1, 11, 0, prices=prices)  # type: ignore[arg-type]  # the names are those of the type
    costs = problem.terms.places["placement_cost"][~problem.application.terminal]

    assert costs.min() >= least
    assert costs.max() <= most
    if prices == "node":
        load = problem.demand[~problem.application.terminal]
        assert np.allclose(costs / load, (costs / load)[0])


@pytest.mark.parametrize("counts", [(3, 2, 5, (0.1,)), (1, 2, 5, ()), (1, 2, 5, (0.1, 0.1, 0.1))])
def test_counts_that_do_not_fit(counts: tuple[int, int, int, tuple[float, ...]]) -> None:
    with pytest.raises(ModelError, match="expected from 1 to"):
        TierCounts(*counts)
