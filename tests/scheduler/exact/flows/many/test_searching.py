from __future__ import annotations

from itertools import count, pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.contract.strategy import Context
from scheduler.exact.flows.flow_form import FlowForm, flow_form
from scheduler.exact.flows.graph_parts import graph_parts
from scheduler.exact.flows.many.near import Near
from scheduler.exact.flows.many.placed import Placed
from scheduler.exact.flows.many.pricing import Pricing
from scheduler.exact.flows.many.searching import Searched, search_many
from scheduler.exact.flows.many.stock import Stock
from scheduler.instances.generators.terminal_graphs import many_graphs
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.network import Node, linked_network
from scheduler.model.problem import Application, Objective, Operator, Problem, Stream
from scheduler.model.underlay import UnderlayLink
from tests.scheduler.exact.flows.linked_problems import all_placements, context, linked

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.exact.flows.many.one_graph import Spot

SEEDS = range(14)
CASES = 10_000
"""Enough for all of a graph of a small problem."""


def form_of(problem: Problem) -> FlowForm:
    """A problem that flows state in full."""
    form = flow_form(problem)
    assert form is not None
    return form


def searched(form: FlowForm, of: Context) -> tuple[Searched, list[float]]:
    """What is found, and the bounds that were reported on the way."""
    bounds: list[float] = []
    found = search_many(form, of, lambda _, bound: bounds.append(bound), sets=40)
    return found, bounds


@pytest.mark.parametrize("seed", SEEDS)
def test_beside_all_placements(seed: int) -> None:
    """The bound is one of all; what is found is one of them, close to the best; nothing better is closed."""
    problem = linked(seed)
    form = form_of(problem)
    if form.limits:
        return
    placements = all_placements(problem)
    costs = [cost for cost, _ in placements]
    found, bounds = searched(form, context())

    if not costs:
        assert found.at is None
        return
    assert found.at is not None
    assert form.fits(found.at)
    cost = form.value(found.at)
    assert found.bound <= min(costs) + 1e-9
    assert bounds == sorted(bounds)
    assert cost == pytest.approx(min(costs), rel=0.05)
    for better in (placement for other, placement in placements if other < cost - 1e-6):
        at = better[[int(members[0]) for members in form.members]]
        assert found.form.allowed[np.arange(form.n_blocks), at].all()


def placed_of(seed: int, share: float) -> tuple[FlowForm, Pricing, Placed]:
    """Nothing is placed yet; whole rows have random prices up to a share."""
    form = form_of(linked(seed))
    graphs = graph_parts(form)
    pricing = Pricing(form, graphs, Stock(form, graphs))
    tariff = pricing.tariff(np.random.default_rng(seed).uniform(0, share, pricing.stock.n_rows))
    near = {g: Near.of(pricing, g, tariff) for g, parts in enumerate(graphs) if len(parts.free)}
    return form, pricing, Placed(pricing, tariff, near)


@pytest.mark.parametrize("share", [0.0, 6.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_spot_in_what_is_left(seed: int, share: float) -> None:
    """Beside all places of a graph, with random parts of what there is already gone."""
    form, pricing, placed = placed_of(seed, share)
    placed.left[:-1] *= np.random.default_rng(seed).choice([1.0, 0.6], len(placed.left) - 1)
    for graph in placed.graphs.tolist():
        spot = placed.find(graph, CASES)
        costs = priced_costs(form, pricing, placed, graph)
        if not costs:
            assert spot is None
            continue
        assert spot is not None
        assert not len(placed.lacking(spot))
        assert spot.priced == pytest.approx(min(costs))


def priced_costs(form: FlowForm, pricing: Pricing, placed: Placed, graph: int) -> list[float]:
    """F at prices of all places of a graph in what is left."""
    parts, near, stock = pricing.graphs[graph], placed.near(graph), pricing.stock
    costs = []
    for nodes in product(range(form.n_nodes), repeat=len(parts.free)):
        at = [int(np.flatnonzero(near.nodes[k] == node)[0]) for k, node in enumerate(nodes)]
        cost = sum(float(near.priced[k, each]) for k, each in enumerate(at))
        cost += sum(float(near.pairs[e, at[i], at[j]]) for e, (_, i, j) in enumerate(parts.inner.tolist()))
        used: FloatArray = np.zeros(stock.n_rows + 1)
        for k, node in enumerate(nodes):
            used[stock.capacity_rows(np.array(node))] += form.demand[parts.free[k]]
        for flow, i, j in parts.inner.tolist():
            used[stock.route[:, nodes[i], nodes[j]]] += form.flow[flow]
        for flow, k, end in parts.outer.tolist():
            used[stock.route[:, end, nodes[k]]] += form.flow[flow]
        if np.isfinite(cost) and (used <= placed.left).all():
            costs.append(cost)
    return costs


def test_out_and_back_again_nothing_has_changed() -> None:
    _, _, placed = placed_of(2, 0.0)
    before = placed.left.copy()
    spots: dict[int, Spot] = {}
    for graph in placed.graphs.tolist():
        spot = placed.find(graph, CASES)
        assert spot is not None
        placed.put(graph, spot)
        spots[graph] = spot
    assert placed.cost() == pytest.approx(sum(each.cost for each in spots.values()))
    assert any(placed.users)
    for graph, spot in spots.items():
        assert placed.take(graph) is spot

    assert placed.left == pytest.approx(before)
    assert not any(placed.users)


def test_a_hundred_graphs() -> None:
    """On a hundred nodes, until a clock that counts what asks it has come to its end."""
    form = form_of(many_graphs(1, 0))
    ticks = count()
    deadline = Deadline(lambda: float(next(ticks)), 4_000.0)
    found, bounds = searched(form, Context(np.random.default_rng(0), deadline))

    assert found.at is not None
    assert form.fits(found.at)
    assert found.bound == bounds[0] > 0
    assert form.value(found.at) <= 1.04 * found.bound
    assert found.form.allowed.sum() < form.allowed.sum()


def test_no_time() -> None:
    ticks = count()
    deadline = Deadline(lambda: float(next(ticks)), 5.0)
    found, _ = searched(form_of(many_graphs(1, 0)), Context(np.random.default_rng(0), deadline))

    assert found.at is None
    assert found.bound == -np.inf


def test_more_graphs_than_places_near() -> None:
    """Graphs that all want the same few nodes look around: each node has room for one of them."""
    problem = alike(130)
    found, _ = searched(form_of(problem), Context(np.random.default_rng(0), NO_DEADLINE))

    assert found.at is not None
    form = form_of(problem)
    assert form.fits(found.at)
    assert len(set(found.at.tolist())) == 131  # both operators of a graph together


def alike(count: int) -> Problem:
    """So many equal graphs of two operators that send each other much, on a star of so many equal nodes."""
    nodes = [Node("hub", {"load": 0.0}, tier="cloud")]
    nodes += [Node(f"n{k}", {"load": 2.0}, tier="fog") for k in range(count)]
    links = [UnderlayLink(("hub", node.name), cost=1.0) for node in nodes[1:]]
    operators, streams = [], []
    for g in range(count):
        names = [f"g{g}.src", f"g{g}.o1", f"g{g}.o2"]
        operators.append(Operator(names[0], demand={}, allowed=("hub",), graph=f"g{g}"))
        operators += [
            Operator(each, demand={"load": 1.0}, graph=f"g{g}", placement_cost=1.0) for each in names[1:]
        ]
        streams += [Stream(i, j, 5.0) for i, j in pairwise(names)]
    weights = {"placement_cost": 0.5, "link_cost": 0.5}
    application = Application(tuple(operators), tuple(streams))
    network = linked_network(nodes, links)
    return Problem(application, network, Objective(weights), constraints=(LinkBandwidth(),))
