"""One graph after the other, each placed exactly in what the former ones leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.by_flows import best_by_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm

GAIN = 1e-9
"""Least relative gain of a pass after which another one follows."""


def one_after_the_other(form: FlowForm, context: Context, order: Sequence[int]) -> IntArray | None:
    """Place the graphs of a form in an order; one that finds no room goes first in the next try.

    There are as many tries as graphs. Bandwidth of pairs is not split up among graphs.

    Args:
        form: The form; its graphs share nothing but nodes and links.
        context: Deadline, and children for the solver.
        order: All graphs.

    Returns:
        (n_blocks,) nodes of the blocks; None if a graph found no room in any order.
    """
    order = list(order)
    if form.by_pair:
        return None
    for _ in range(len(order)):
        at, stuck = _in_order(form, context, order)
        if at is not None or stuck is None or order[0] == stuck or context.deadline.expired():
            return at
        order.remove(stuck)
        order.insert(0, stuck)
    return None


def _in_order(form: FlowForm, context: Context, order: Sequence[int]) -> tuple[IntArray | None, int | None]:
    """Return the nodes of all blocks, or None and the graph that found no room."""
    at = np.full(form.n_blocks, -1)
    for graph in order:
        blocks = np.flatnonzero(form.graph == graph)
        found = best_by_flows(form.part(blocks, *left_by(form, at)), context)
        if found.at is None:
            return None, graph if found.proved else None
        at[blocks] = found.at
    # what graphs leave each other is known to a tolerance only
    return (at if form.fits(at) else None), None


def placed_again(form: FlowForm, context: Context, at: IntArray, passes: int) -> IntArray:
    """Return a placement in which each graph, in turn, was taken out and placed again, as long as that gains.

    Args:
        form: The form.
        context: Deadline, and children for the solver.
        at: (n_blocks,) where the blocks are; they fit.
        passes: Turns at most.
    """
    at = at.copy()
    for _ in range(passes):
        before = form.value(at)
        for graph in range(int(form.graph.max()) + 1):
            if context.deadline.expired():
                return at
            blocks = np.flatnonzero(form.graph == graph)
            others = at.copy()
            others[blocks] = -1
            part = form.part(blocks, *left_by(form, others))
            found = best_by_flows(part, context)
            if found.at is not None and part.value(found.at) < part.value(at[blocks]):
                others[blocks] = found.at
                at = others if form.fits(others) else at
        if form.value(at) >= before - GAIN * max(1.0, abs(before)):
            break
    return at


def left_by(form: FlowForm, at: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the capacity (n_nodes, n_resources) and bandwidth (n_links,) that blocks on nodes leave."""
    placed = np.flatnonzero(at >= 0)
    capacity = np.array(form.capacity)
    np.subtract.at(capacity, at[placed], form.demand[placed])
    return np.maximum(capacity, 0.0), np.maximum(form.bandwidth - form.used(at), 0.0)
