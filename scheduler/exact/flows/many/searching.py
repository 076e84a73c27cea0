"""A good placement of very many graphs, with a bound: prices, then graph by graph, then sets of graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError, require_time
from scheduler.exact.flows.graph_parts import graph_parts
from scheduler.exact.flows.many.diving import dive
from scheduler.exact.flows.many.near import Near
from scheduler.exact.flows.many.placed import Placed
from scheduler.exact.flows.many.pricing import Pricing
from scheduler.exact.flows.many.rebuilding import rebuild
from scheduler.exact.flows.many.scarcity import scarcity
from scheduler.exact.flows.many.stock import Stock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.many.pricing import Bound, Tariff

OF_PRICES = 0.35
"""Of the time left goes at most to prices."""
NEWS = 200
"""Better placements after which one is reported."""
SAFE = 1e-9
"""What a bound may be too high by rounding, relative."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search knows.

    Attributes:
        at: (n_blocks,) where the blocks are; None if no placement was found.
        bound: F of no placement is below.
        form: With the places that are left: of those that are not, nothing is better than what was found.
    """

    at: IntArray | None
    bound: float
    form: FlowForm


def search_many(
    form: FlowForm,
    context: Context,
    report: Callable[[IntArray | None, float], None],
    *,
    sets: int | None,
) -> Searched:
    """Find prices, place graph by graph at these, then sets of graphs again.

    Args:
        form: The form; each block has a place, bandwidth is that of links, and no latency is limited.
        context: Deadline and seeded generator.
        report: Receives better placements and the bound.
        sets: Sets of graphs that are placed again, per graph; None: only the deadline ends that.
    """
    graphs = graph_parts(form)
    stock = Stock(form, graphs)
    bound = -math.inf
    if (stock.room < 0).any():  # what is settled has no room itself
        return Searched(None, bound, form)
    pricing = Pricing(form, graphs, stock)
    try:
        shares = scarcity(pricing, context.random, context.deadline.share(OF_PRICES))
        tariff = pricing.tariff(shares)
        near = _near(pricing, tariff, context.deadline)
        bounded = pricing.bound(near, tariff, context.deadline)
        bound = bounded.value
        report(None, bound)
        placed = Placed(pricing, tariff, near)
        if not dive(placed, context.random, context.deadline):
            return Searched(None, bound, form)
    except OutOfTimeError:
        return Searched(None, bound, form)

    def fitting() -> IntArray | None:
        at = placed.at()
        return at if form.fits(at) else None

    found = fitting()
    report(found, bound)
    news = 0

    def better() -> None:
        nonlocal news
        news += 1
        if news % NEWS == 0:
            report(fitting(), bound)

    if len(placed.graphs):
        most = 2**62 if sets is None else sets * len(placed.graphs)
        rebuild(placed, bounded.least, context.random, context.deadline, most=most, better=better)
    last = fitting()
    if last is not None and (found is None or form.value(last) < form.value(found)):
        found = last
    report(found, bound)
    if found is None:
        return Searched(None, bound, form)
    return Searched(found, bound, _closed(form, near, bounded, form.value(found)))


def _closed(form: FlowForm, near: Mapping[int, Near], bound: Bound, worth: float) -> FlowForm:
    """Return a form without places with which F is not below what is known."""
    most = worth - SAFE * max(1.0, abs(worth))
    open_to = form.allowed.copy()
    for graph, each in near.items():
        # what the graph may cost with a place, all others at their least
        rest = most - (bound.value - float(bound.least[graph]))
        blocks = each.parts.free
        open_to[blocks] = (each.least[:, -1] < rest)[:, None]
        np.put_along_axis(kept := open_to[blocks], each.nodes, each.least[:, :-1] < rest, axis=1)
        open_to[blocks] = kept
    return form.closed(open_to)


def _near(pricing: Pricing, tariff: Tariff, deadline: Deadline) -> dict[int, Near]:
    near = {}
    for graph, parts in enumerate(pricing.graphs):
        if len(parts.free):
            require_time(deadline)
            near[graph] = Near.of(pricing, graph, tariff)
    return near
