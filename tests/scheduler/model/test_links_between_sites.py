"""Links that join no nodes, such as uplinks of sites: routes and neighbours are given."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from scheduler.base.arrays import frozen
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.application import Stream
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.network import Network, Node
from scheduler.model.problem import Application, Objective, Operator, Problem
from scheduler.model.underlay import NO_LINK, Underlay, UnderlayLink
from scheduler.plan import plan
from scheduler.reduce.additions.pinning import pinned

SITE = np.array([0, 0, 1, 1, 2])


def ways(uplink: float) -> Underlay:
    """Two hosts at each of two sites, one at a third; the uplink of the first is limited."""
    start, end = np.meshgrid(SITE, SITE, indexing="ij")
    over = (start != end) & ((start == 0) | (end == 0))
    return Underlay(
        links=(UnderlayLink(("a", "(uplink)"), bandwidth_bytes_per_s=uplink),),
        route=frozen(np.where(over, 0, NO_LINK)[None]),
        ends=frozen(np.full((1, 2), -1)),
        relays=frozen(np.ones(5, dtype=np.bool_)),
        near=frozen((start == end) | (start + end == 1)),
    )


def problem(seed: int, uplink: float = 12.0) -> Problem:
    """A chain of four operators from the first site, two of which fit on a node; costs are random."""
    random = np.random.default_rng(seed)
    nodes = [Node(f"n{u}", {"slots": 2.0}, tier=("edge", "fog", "cloud")[SITE[u]]) for u in range(5)]
    cost = np.array([[0.0, 5.0, 60.0], [5.0, 0.0, 50.0], [60.0, 50.0, 0.0]])[np.ix_(SITE, SITE)]
    operators = [
        Operator(
            f"o{i}",
            allowed=("n0", "n1") if i == 0 else None,
            role="source" if i == 0 else "operator",
            placement_cost={node.name: float(random.integers(1, 90)) for node in nodes},
        )
        for i in range(4)
    ]
    streams = [Stream(f"o{i}", f"o{i + 1}", rate=float(10 / (i + 1)), tuple_bytes=1.0) for i in range(3)]
    return Problem(
        Application(tuple(operators), tuple(streams)),
        Network(
            nodes, np.where(cost > 0, cost, 0.1) * (1 - np.eye(5)), link_cost=cost, underlay=ways(uplink)
        ),
        Objective({"placement_cost": 0.5, "link_cost": 0.5}),
        constraints=(LinkBandwidth(),),
    )


@pytest.mark.parametrize("strategy", ["inop-exact", "inop-search", "inop-sequential", "portfolio"])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_brute_force(strategy: str, seed: int) -> None:
    """It keeps within the uplink, whatever number of hosts shares it."""
    given = problem(seed, uplink=9.0)
    costs = [
        evaluate(given, np.array(each)).objective
        for each in product(range(5), repeat=4)
        if not check(given, np.array(each))
    ]
    assert costs
    found = plan(given, strategy)
    assert found.evaluation is not None
    assert found.evaluation.objective == pytest.approx(min(costs))


def test_flows_over_such_links_are_not_followed() -> None:
    given = ways(9.0)
    assert not given.followed
    assert not given.restricted(np.array([0, 2])).followed
    assert replace(given, near=None, ends=frozen(np.array([[0, 1]]))).followed


def test_neighbours_are_the_given_ones() -> None:
    """Those of a part too, in its order."""
    given = ways(9.0)
    assert given.beside[0].tolist() == [True, True, True, True, False]
    assert given.beside[4].tolist() == [False, False, False, False, True]
    part = given.restricted(np.array([4, 2, 0]))
    assert part.beside.tolist() == [[True, False, False], [False, True, True], [False, True, True]]


def test_a_pin_is_at_the_source_or_beside_it() -> None:
    """By placement cost and the mean cost of what leads to its neighbours; never at a site further off."""
    given = problem(0)
    assert given.network.underlay is not None
    near = {f"n{u}" for u in range(4)}
    assert set(pinned(given, given.network.underlay)) == {"o1"}
    for seed in range(20):
        each = problem(seed)
        assert set(pinned(each, ways(9.0)).values()) <= near
