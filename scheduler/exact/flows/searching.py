"""A search for a good placement of all graphs: at prices, then together where they compete."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.exact.flows.closing import close
from scheduler.exact.flows.graph_parts import graph_parts, small
from scheduler.exact.flows.joint_repair import placed_together
from scheduler.exact.flows.many.searching import Searched, search_many
from scheduler.exact.flows.sequential import one_after_the_other, placed_again

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm

    Report = Callable[[IntArray | None, float], None]
    """Receives every better placement of the blocks, or None, and the bound."""

PASSES = 3
"""How often every graph is taken out and placed again at most, as long as that gains."""
PATIENCE = 4
"""Sets of graphs that are placed again together without a gain, after which to stop."""
SETS, ALL_SETS = 10, 40
"""Sets of graphs that are placed again at prices, per graph: before they are placed together, and if not."""
OF_START, OF_PRICES = 0.5, 0.5
"""Of the time left goes at most to the start, and then to prices."""


def search(
    form: FlowForm, context: Context, report: Report, passes: int = PASSES, patience: int | None = PATIENCE
) -> Searched:
    """Find prices and place graphs at these, then place those together that compete for what is scarce.

    Where tables of all places would be too large, the first part is all. If it finds no placement, one graph
    after the other is placed exactly.

    Args:
        form: The form; bandwidth is that of links, and no latency is limited.
        context: Deadline, seeded generator, and children for the solver.
        report: See `Report`.
        passes: As `PASSES`.
        patience: As `PATIENCE`; None: only the deadline ends the search.
    """
    whole = small(form, graph_parts(form))
    part = replace(context, deadline=context.deadline.share(OF_START))
    if not whole:
        endless = patience is None and not context.deadline.unlimited
        return search_many(form, context, report, sets=None if endless else ALL_SETS)
    many = search_many(form, part, report, sets=SETS)
    at = many.at
    if at is None:
        at = one_after_the_other(form, part, range(int(form.graph.max()) + 1))
        at = None if at is None else placed_again(form, part, at, passes)
        report(at, many.bound)
    closed = close(many.form, at, context.deadline.share(OF_PRICES))
    bound = max(many.bound, closed.bound)
    report(closed.best, bound)
    at = closed.best
    if at is None or closed.point is None or closed.empty:
        return Searched(at, bound, closed.form)
    at = placed_together(
        form, context, at, closed.point, patience=patience, report=lambda found: report(found, bound)
    )
    return Searched(at, bound, closed.form)
