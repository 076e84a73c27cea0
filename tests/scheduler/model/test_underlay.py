from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.model.network import Node, linked_network
from scheduler.model.underlay import Underlay, UnderlayLink
from scheduler.reduce.subproblem import subnetwork


def nodes(*names: str, edge: str = "") -> tuple[Node, ...]:
    """Nodes of which those in `edge` are of the edge."""
    return tuple(Node(each, {}, tier="edge" if each in edge else "fog") for each in names)


def titles(underlay: Underlay, start: int, end: int) -> list[str]:
    """The links of a route, in its direction from the smaller node."""
    return [underlay.links[k].title for k in underlay.route[:, start, end].tolist() if k >= 0]


def link(ends: str, cost: float, bandwidth: float | None = None) -> UnderlayLink:
    """A link between nodes of one letter."""
    return UnderlayLink((ends[0], ends[1]), cost, delay_ms=2 * cost, bandwidth_bytes_per_s=bandwidth)


def test_routes_follow_the_least_cost() -> None:
    underlay = Underlay.of(nodes(*"abc"), [link("ab", 1), link("bc", 1), link("ac", 3)])

    assert titles(underlay, 0, 2) == ["a-b", "b-c"]
    assert underlay.along(underlay.cost)[0, 2] == 2
    assert underlay.delay_ms[2, 0] == 4


def test_of_equal_routes_the_one_with_fewer_links_then_the_first_nodes() -> None:
    square = [link("ab", 1), link("bd", 1), link("ac", 1), link("cd", 1)]

    assert titles(Underlay.of(nodes(*"abcd"), square), 0, 3) == ["a-b", "b-d"]
    assert titles(Underlay.of(nodes(*"abcd"), [*square, link("ad", 2)]), 0, 3) == ["a-d"]
    # the order of the nodes counts, not that of the links
    assert titles(Underlay.of(nodes(*"abcd"), square[::-1]), 3, 0) == ["a-b", "b-d"]


def test_edge_nodes_relay_nothing() -> None:
    links = [link("ab", 1), link("bc", 1), link("ac", 5)]

    assert titles(Underlay.of(nodes(*"abc", edge="b"), links), 0, 2) == ["a-c"]
    assert titles(Underlay.of(nodes(*"abc", edge="ac"), links), 0, 2) == ["a-b", "b-c"]


def test_a_network_that_falls_apart() -> None:
    with pytest.raises(ModelError, match="links: no route leads from node a to node c"):
        Underlay.of(nodes(*"abc", edge="b"), [link("ab", 1), link("bc", 1)])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ("az", r'links\[1\].between\[1\]: "z" is not a node of the network'),
        ("ba", r"links\[1\].between: links\[0\] joins b-a already"),
    ],
)
def test_links_that_are_refused(ends: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Underlay.of(nodes(*"ab"), [link("ab", 1), link(ends, 1)])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cost": -1.0}, "cost: expected a number >= 0"),
        ({"delay_ms": -1.0}, "delay_ms: expected a number >= 0"),
        ({"bandwidth_bytes_per_s": -1.0}, "bandwidth_bytes_per_s: expected a number >= 0"),
        ({"between": ("a", "a")}, r'between\[1\]: "a" is the first node too'),
        ({"between": ("a",)}, "between: expected the names of two nodes"),
    ],
)
def test_values_that_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        UnderlayLink(**({"between": ("a", "b")} | fields))  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("seed", range(8))
def test_random_networks_beside_a_library(seed: int) -> None:
    """Costs of routes as networkx finds them, and links that add up to them."""
    random = np.random.default_rng(seed)
    count = 9
    graph = nx.gnm_random_graph(count, 16, seed=seed)
    nx.add_path(graph, range(count))
    names = [chr(ord("a") + k) for k in range(count)]
    costs = {edge: float(random.integers(0, 6)) for edge in graph.edges}
    underlay = Underlay.of(
        nodes(*names), [UnderlayLink((names[i], names[j]), cost) for (i, j), cost in costs.items()]
    )

    nx.set_edge_attributes(graph, costs, "cost")
    expected = dict(nx.all_pairs_dijkstra_path_length(graph, weight="cost"))
    found = underlay.along(underlay.cost)
    for start in range(count):
        for end in range(count):
            assert found[start, end] == pytest.approx(expected[start][end])
            paths = [[start]] if start == end else nx.all_simple_paths(graph, start, end)
            cheapest = min(
                (sum(costs[min(i, j), max(i, j)] for i, j in pairwise(p)), len(p), p) for p in paths
            )
            on_it = [k for k in underlay.route[:, start, end].tolist() if k >= 0]
            assert len(on_it) == cheapest[1] - 1
            if start < end:
                ways = [underlay.links[k].between for k in on_it]
                steps = pairwise(cheapest[2])
                assert ways == [tuple(names[k] for k in sorted(step)) for step in steps]


def test_a_part_of_a_network_keeps_its_routes() -> None:
    """They lead through nodes that are not in the part."""
    network = linked_network(nodes(*"abc"), [link("ab", 1, 7), link("bc", 1, 5)])
    part = subnetwork(network, np.array([0, 2]))

    assert part.underlay is not None
    assert part.delay_ms[0, 1] == 4
    assert titles(part.underlay, 0, 1) == ["a-b", "b-c"]
    assert part.underlay.narrowest[0, 1] == 5
