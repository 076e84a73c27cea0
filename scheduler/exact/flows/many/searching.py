"""A good placement of very many graphs, with a bound: prices, then graph by graph, then sets of graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.many.pricing import Tariff

OF_PRICES = 0.35
"""Of the time left goes at most to prices."""
SETS, LEAST_SETS = 40, 1500
"""Sets of graphs that are placed again, per graph, and at least."""
NEWS = 200
"""Better placements after which one is reported."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search knows.

    Attributes:
        at: (n_blocks,) where the blocks are; None if no placement was found.
        bound: F of no placement is below.
    """

    at: IntArray | None
    bound: float


def search_many(
    form: FlowForm, context: Context, report: Callable[[IntArray | None, float], None], *, endless: bool
) -> Searched:
    """Find prices, place graph by graph at these, then sets of graphs again.

    Args:
        form: The form; each block has a place, bandwidth is that of links, and no latency is limited.
        context: Deadline and seeded generator.
        report: Receives better placements and the bound.
        endless: Whether only the deadline ends the search, if it comes.
    """
    graphs = graph_parts(form)
    stock = Stock(form, graphs)
    bound = -math.inf
    if (stock.room < 0).any():  # what is settled has no room itself
        return Searched(None, bound)
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
            return Searched(None, bound)
    except OutOfTimeError:
        return Searched(None, bound)

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

    most = max(LEAST_SETS, SETS * len(placed.graphs))
    endless = endless and not context.deadline.unlimited
    if len(placed.graphs):
        sets = 2**62 if endless else most
        rebuild(placed, bounded.least, context.random, context.deadline, most=sets, better=better)
    last = fitting()
    if last is not None and (found is None or form.value(last) < form.value(found)):
        found = last
    report(found, bound)
    return Searched(found, bound)


def _near(pricing: Pricing, tariff: Tariff, deadline: Deadline) -> dict[int, Near]:
    near = {}
    for graph, parts in enumerate(pricing.graphs):
        if len(parts.free):
            require_time(deadline)
            near[graph] = Near.of(pricing, graph, tariff)
    return near
