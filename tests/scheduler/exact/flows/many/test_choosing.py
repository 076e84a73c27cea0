from __future__ import annotations

import numpy as np
import pytest

from scheduler.exact.flows.flow_form import FlowForm, flow_form
from scheduler.exact.flows.graph_parts import graph_parts
from scheduler.exact.flows.many.choosing import cheapest, least_on_nodes
from scheduler.exact.flows.many.pricing import Pricing
from scheduler.exact.flows.many.stock import Stock
from tests.scheduler.exact.flows.linked_problems import all_placements, linked


def pricing_of(seed: int) -> tuple[FlowForm, Pricing]:
    """A small problem's graphs."""
    form = flow_form(linked(seed))
    assert form is not None
    graphs = graph_parts(form)
    return form, Pricing(form, graphs, Stock(form, graphs))


@pytest.mark.parametrize("sending", [1, 2, 6])
@pytest.mark.parametrize("seed", range(8))
def test_no_place_costs_less(seed: int, sending: int) -> None:
    """Of all placements, at random prices, whatever few nodes neighbours look at."""
    form, pricing = pricing_of(seed)
    tariff = pricing.tariff(np.random.default_rng(seed).uniform(0, 5, pricing.stock.n_rows))
    places = [
        placement[[int(members[0]) for members in form.members]]
        for _, placement in all_placements(linked(seed))
    ]
    for graph, parts in enumerate(pricing.graphs):
        if not len(parts.free):
            continue
        own = pricing.own(graph) + pricing.surcharge(graph, tariff)
        least = least_on_nodes(form, parts, own, tariff.along, sending, bound=True)
        k, (flows, i, j) = np.arange(len(parts.free)), parts.inner.T
        for at in places:
            node = at[parts.free]
            along = form.weight[flows] * form.distance[node[i], node[j]]
            along += form.flow[flows] * tariff.along[node[i], node[j]]
            cost = own[k, node].sum() + along.sum()
            assert (least[k, node] <= cost + 1e-9).all()


def test_cheapest_first_and_the_next_one() -> None:
    least = np.array([[3.0, 1.0, 2.0, 4.0], [7.0, 8.0, 5.0, 6.0]])

    nodes, costs = cheapest(least, 2)

    assert nodes.tolist() == [[1, 2], [2, 3]]
    assert costs.tolist() == [[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]


def test_beyond_all_there_is_nothing() -> None:
    nodes, costs = cheapest(np.array([[2.0, 1.0]]), 2)

    assert nodes.tolist() == [[1, 0]]
    assert costs.tolist() == [[1.0, 2.0, np.inf]]
