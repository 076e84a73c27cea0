"""Some graphs at a time, placed again together: those that compete for what is scarce.

Which capacities and bandwidths are scarce is what prices say. The graphs that use one of them, or would like
to at these prices, are taken out and placed again exactly in what all others leave (large neighbourhood
search: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", CP
1998).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import Iterations
from scheduler.exact.flows.by_flows import best_by_flows
from scheduler.exact.flows.sequential import left_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.priced import Point

GRAPHS = (2, 4)
"""Graphs that are placed together, least and most."""
OF_TRY = 0.1
"""Of the time left goes at most to one set of graphs."""


def placed_together(
    form: FlowForm,
    context: Context,
    at: IntArray,
    point: Point,
    *,
    patience: int | None,
    report: Callable[[IntArray], None],
) -> IntArray:
    """Return a placement that is no worse, after some graphs at a time have been placed again.

    Args:
        form: The form.
        context: Deadline, seeded generator, and children for the solver.
        at: (n_blocks,) where the blocks are; they fit.
        point: Prices, and where graphs would like to be at these.
        patience: Tries without a gain after which to stop; None: only the deadline ends it.
        report: Receives every better placement.
    """
    stop = Iterations(context.deadline, patience)
    scarce = _Scarce(form, point)
    while stop.reason() is None:
        chosen = scarce.graphs(at, context.random)
        if len(chosen) < GRAPHS[0]:
            break
        blocks = np.flatnonzero(np.isin(form.graph, chosen))
        others = at.copy()
        others[blocks] = -1
        part = form.part(blocks, *left_by(form, others))
        limited = replace(context, deadline=context.deadline.share(OF_TRY))
        found = best_by_flows(part, limited, at[blocks])
        better = found.at is not None and part.value(found.at) < part.value(at[blocks]) - 1e-9
        if better and found.at is not None:
            others[blocks] = found.at
            better = form.fits(others)
        if better:
            at = others
            report(at)
        stop.note(improved=better)
    return at


class _Scarce:
    """What has a price, and the graphs that use it.

    Args:
        form: The form.
        point: The prices.
    """

    def __init__(self, form: FlowForm, point: Point) -> None:
        self._form, self._point = form, point
        worth = np.concatenate([point.shares[0].sum(axis=1), point.shares[1]])
        self._chance = worth / worth.sum() if worth.sum() > 0 else None

    def graphs(self, at: IntArray, random: np.random.Generator) -> IntArray:
        """Return some graphs that use the same capacity or bandwidth, or any where nothing is scarce."""
        form = self._form
        every = int(form.graph.max()) + 1
        most = int(random.integers(GRAPHS[0], GRAPHS[1] + 1))
        if self._chance is None:
            return random.permutation(every)[:most]
        row = int(random.choice(len(self._chance), p=self._chance))
        using = np.union1d(self._using(row, at), self._using(row, self._point.at))
        others = np.setdiff1d(np.arange(every), using)
        # what is scarce for few graphs is left to them by others
        return np.concatenate([random.permutation(using), random.permutation(others)])[:most]

    def _using(self, row: int, at: IntArray) -> IntArray:
        """Return the graphs that use a node, or a link, with blocks on nodes (n_blocks,)."""
        form = self._form
        if row < form.n_nodes:
            return np.unique(form.graph[(at == row) & (form.demand > 0).any(axis=1)])
        start, end = at[form.ends].T
        on = (form.underlay.route[:, start, end] == row - form.n_nodes).any(axis=0)
        return np.unique(form.graph[form.ends[on, 0]])
