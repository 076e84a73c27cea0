"""A search for a good placement of all graphs: one after the other, then together where they compete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.exact.flows.closing import close
from scheduler.exact.flows.joint_repair import placed_together
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
PATIENCE = 12
"""Sets of graphs that are placed again together without a gain, after which to stop."""
OF_START, OF_PRICES = 0.5, 0.5
"""Of the time left goes at most to the start, and then to prices."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search knows.

    Attributes:
        at: (n_blocks,) where the blocks are; None if no placement was found.
        bound: F of no placement is below.
    """

    at: IntArray | None
    bound: float


def search(
    form: FlowForm, context: Context, report: Report, passes: int = PASSES, patience: int | None = PATIENCE
) -> Searched:
    """Begin graph by graph, find prices, then place those together that compete for what is scarce.

    Args:
        form: The form; bandwidth is that of links, and no latency is limited.
        context: Deadline, seeded generator, and children for the solver.
        report: See `Report`.
        passes: As `PASSES`.
        patience: As `PATIENCE`; None: only the deadline ends the search.
    """
    part = replace(context, deadline=context.deadline.share(OF_START))
    at = one_after_the_other(form, part, range(int(form.graph.max()) + 1))
    if at is not None:
        at = placed_again(form, part, at, passes)
        report(at, float("-inf"))
    closed = close(form, at, context.deadline.share(OF_PRICES))
    report(closed.best, closed.bound)
    at = closed.best
    if at is None or closed.point is None or closed.empty:
        return Searched(at, closed.bound)
    at = placed_together(
        form, context, at, closed.point, patience=patience, report=lambda found: report(found, closed.bound)
    )
    return Searched(at, closed.bound)
