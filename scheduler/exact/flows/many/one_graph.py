"""The best places of one graph in what others leave, among the places that are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.many.alike import Alike
from scheduler.exact.flows.many.choosing import cheapest, least_on_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.flows.many.pricing import Pricing, Tariff

    _Case = tuple[float, int, IntArray, FloatArray, FloatArray]
    """What the graph costs at least, a number, choices for it, and own and pair costs."""

ALL = slice(None)
"""Of the graphs alike, of which there is one here."""
PLACES = 12
"""Places of a block that are looked at: those that cost least with what is left."""
SENDING = 48
"""As of `least_on_nodes`."""


@dataclass(frozen=True, eq=False)
class Spot:
    """Where a graph is.

    Attributes:
        nodes: (n_free,) of its free blocks.
        rows: (n_uses,) the rows of what it uses.
        amounts: (n_uses,) how much of them.
        cost: F of its free blocks and of their flows.
    """

    nodes: IntArray
    rows: IntArray
    amounts: FloatArray
    cost: float


def best_spot(
    pricing: Pricing, graph: int, left: FloatArray, tariff: Tariff | None, cases: int
) -> Spot | None:
    """Return the best places of a graph by itself, at prices if there are any; None if none is found.

    What does not fit for one block or flow alone is left out first. If blocks or flows of the graph together
    need more of a row than is left, one of them has to be elsewhere: a case for each of them, the one that
    costs least first.

    Args:
        pricing: The graphs.
        graph: Which; it has free blocks.
        left: (n_rows + 1,) what is left of rows.
        tariff: Prices.
        cases: How many cases are looked at.
    """
    alike = _looked_at(pricing, graph, left, tariff)
    prices = None if tariff is None else tariff.prices
    number = count()
    heap: list[_Case] = []
    _push(heap, number, alike, *_that_fit(alike, left, prices))
    for _ in range(cases):
        if not heap:
            return None
        _, _, choices, own, pairs = heappop(heap)
        rows, amounts = alike.rows(ALL, choices)[0], alike.amounts[0]
        lacking = pricing.stock.lacking(left, rows, amounts)
        if not len(lacking):
            used = (amounts > 0) & (rows < pricing.stock.n_rows)
            nodes = alike.nodes[0, np.arange(choices.shape[1]), choices[0]]
            return Spot(nodes, rows[used], amounts[used], float(alike.cost(choices)[0]))
        for case in _cases(alike, int(lacking[0]), choices[0], own, pairs):
            _push(heap, number, alike, *case)
    return None


def _looked_at(pricing: Pricing, graph: int, left: FloatArray, tariff: Tariff | None) -> Alike:
    """Return the graph, with the places at which it costs least with what is left."""
    form, stock, parts = pricing.form, pricing.stock, pricing.graphs[graph]
    own = pricing.own(graph)
    priced = own.copy() if tariff is None else own + pricing.surcharge(graph, tariff)
    room = left[: form.capacity.size].reshape(form.capacity.shape)
    priced[(form.demand[parts.free][:, None] > room).any(axis=-1)] = np.inf
    for flow, k, node in parts.outer.tolist():
        priced[k, left[stock.route[:, node]].min(axis=0, initial=np.inf) < form.flow[flow]] = np.inf
    along = None if tariff is None else tariff.along
    least = least_on_nodes(form, parts, priced, along, SENDING, bound=False)
    nodes = cheapest(least, min(PLACES, form.n_nodes))[0]
    places = np.take_along_axis(own, nodes, axis=1)
    return Alike.of(form, stock, [parts], nodes[None], places[None])


def _that_fit(alike: Alike, left: FloatArray, prices: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return own and pair costs of a graph, infinite for what is more than is left."""
    own, pairs = (alike.own.copy(), alike.pairs.copy()) if prices is None else alike.priced(ALL, prices)
    own[(left[alike.capacity_rows] < alike.demand[:, :, None]).any(axis=-1)] = np.inf
    narrow = left[alike.outer_rows].min(axis=1, initial=np.inf) < alike.outer_flow[..., None]
    for k, at in enumerate(alike.outer_at[0].tolist()):
        own[0, at, narrow[0, k]] = np.inf
    pairs[left[alike.inner_rows].min(axis=1, initial=np.inf) < alike.inner_flow[..., None, None]] = np.inf
    return own, pairs


def _push(heap: list[_Case], number: count[int], alike: Alike, own: FloatArray, pairs: FloatArray) -> None:
    found = alike.eliminations(own, pairs)
    least = float(found.least[0])
    if np.isfinite(least):
        heappush(heap, (least, next(number), found.choices(), own, pairs))


def _cases(
    alike: Alike, row: int, choices: IntArray, own: FloatArray, pairs: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield costs for each block or flow that uses a row with these choices, if it may not use that row."""
    for k, choice in enumerate(choices.tolist()):
        using = ((alike.capacity_rows[0, k] == row) & (alike.demand[0, k] > 0)).any(axis=-1)
        if using[choice]:
            yield _without(own, k, using), pairs
    for k, at in enumerate(alike.outer_at[0].tolist()):
        using = (alike.outer_rows[0, :, k] == row).any(axis=0)
        if using[choices[at]] and alike.outer_flow[0, k] > 0:
            yield _without(own, at, using), pairs
    for k, (i, j) in enumerate(alike.joined):
        using = (alike.inner_rows[0, :, k] == row).any(axis=0)
        if using[choices[i], choices[j]] and alike.inner_flow[0, k] > 0:
            yield own, _without(pairs, k, using)


def _without(costs: FloatArray, k: int, using: BoolArray) -> FloatArray:
    rest = costs.copy()
    rest[0, k, using] = np.inf
    return rest
