"""One graph after the other, each placed exactly in what the former ones leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.by_flows import best_by_flows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm

GAIN = 1e-9
"""Least relative gain of a pass after which another one follows."""
PAIRS = 3
"""Pairs of graphs that are placed again together, per graph and pass."""


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
    """Return a placement in which graphs were taken out and placed again, as long as that gains.

    First each of them in turn; then two at a time, of which one sits where the other has no room.

    Args:
        form: The form.
        context: Deadline, and children for the solver.
        at: (n_blocks,) where the blocks are; they fit.
        passes: Turns at most, of single graphs and of two.
    """
    single = [(graph,) for graph in range(int(form.graph.max()) + 1)]
    at = _passes(form, context, at, lambda _: single, passes)
    return _passes(form, context, at, lambda now: _in_each_others_way(form, now), passes)


def _passes(
    form: FlowForm,
    context: Context,
    at: IntArray,
    sets_of: Callable[[IntArray], Sequence[tuple[int, ...]]],
    passes: int,
) -> IntArray:
    """Place sets of graphs again, one set after the other, until a pass gains nothing."""
    for _ in range(passes):
        before = form.value(at)
        for graphs in sets_of(at):
            if context.deadline.expired():
                return at
            at = _again(form, context, at, graphs)
        if form.value(at) >= before - GAIN * max(1.0, abs(before)):
            break
    return at


def _again(form: FlowForm, context: Context, at: IntArray, graphs: tuple[int, ...]) -> IntArray:
    """Return the placement with some graphs placed anew together, or as it is if that gains nothing."""
    blocks = np.flatnonzero(np.isin(form.graph, graphs))
    others = at.copy()
    others[blocks] = -1
    part = form.part(blocks, *left_by(form, others))
    start = at[blocks] if len(graphs) > 1 else None
    found = best_by_flows(part, context, start)
    if found.at is None or part.value(found.at) >= part.value(at[blocks]):
        return at
    others[blocks] = found.at
    return others if form.fits(others) else at


def _in_each_others_way(form: FlowForm, at: IntArray) -> list[tuple[int, ...]]:
    """Return the pairs of graphs that use the most of what is full, a few for each graph.

    A node is full where the largest block has no room, a link where the largest flow has none.
    """
    capacity, bandwidth = left_by(form, at)
    count = int(form.graph.max()) + 1
    uses = []
    for r in range(form.demand.shape[1]):
        for u in np.flatnonzero(capacity[:, r] < form.demand[:, r].max(initial=0.0)).tolist():
            uses.append(np.bincount(form.graph[at == u], form.demand[at == u, r], count))
    of_flow = form.graph[form.ends[:, 0]]
    rows = form.underlay.route[:, at[form.ends[:, 0]], at[form.ends[:, 1]]]
    for link in np.flatnonzero(bandwidth < form.flow.max(initial=0.0)).tolist():
        over = (rows == link).any(axis=0)
        uses.append(np.bincount(of_flow[over], form.flow[over], count))
    used = np.array(uses, dtype=np.float64).reshape(len(uses), count)
    used /= np.maximum(used.sum(axis=1, keepdims=True), 1e-300)
    shared = np.triu(used.T @ used, 1)
    most = np.argsort(-shared, axis=None, kind="stable")[: PAIRS * count]
    pairs = zip(*np.unravel_index(most, shared.shape), strict=True)
    return [(int(a), int(b)) for a, b in pairs if shared[a, b] > 0]


def left_by(form: FlowForm, at: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the capacity (n_nodes, n_resources) and bandwidth (n_links,) that blocks on nodes leave."""
    placed = np.flatnonzero(at >= 0)
    capacity = np.array(form.capacity)
    np.subtract.at(capacity, at[placed], form.demand[placed])
    return np.maximum(capacity, 0.0), np.maximum(form.bandwidth - form.used(at), 0.0)
