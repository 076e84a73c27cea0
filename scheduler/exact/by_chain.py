"""Proofs for chains of operators: every path is kept until its bound or a cheaper equal cuts it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.chains.chain import Chain, Memory, raise_multipliers
from scheduler.chains.chain_search import search_chain
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.model.capacity import most_members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.work import Work
    from scheduler.contract.incumbent import Incumbent
    from scheduler.exact.form.class_form import ClassForm

SOURCE = "chain"
STAGES = ((2, 40, 2_000), (3, 40, 2_000), (4, 30, 1 << 62))
"""Nodes remembered, iterations over multipliers and paths kept per position; the last stage is the proof."""
CELLS = 4_000_000
"""Most states of memory times pairs of nodes."""


def search_as_chain(form: ClassForm, incumbent: Incumbent, work: Work) -> bool:
    """Prove the incumbent optimal or find better ones, if the operators form a chain.

    Stage by stage with more memory, bounds drop places and a search of limited width looks for something
    better; what is open at last is searched completely.

    Args:
        form: The problem.
        incumbent: Has a placement; offered every better one.
        work: When to stop.

    Returns:
        Whether a proof was completed; False also if the operators form no chain.
    """
    order = chain_order(form)
    if order is None:
        return False
    whole = _chain(form, order)
    if whole is None:
        return False
    open_places, multipliers = whole.open, np.zeros(form.n_nodes)
    for size, iterations, width in STAGES:
        if work.over():
            return False
        nodes = np.flatnonzero(open_places.any(axis=0))
        if not open_places.any(axis=1).all():
            return _proved(incumbent)
        part = whole.restricted(nodes, open_places[:, nodes])
        memory = Memory.within(part, size, CELLS)
        completion = raise_multipliers(
            part, memory, multipliers[nodes], incumbent.objective, iterations=iterations, work=work
        )
        multipliers[nodes] = completion.multipliers
        incumbent.raise_bound(min(completion.bound, incumbent.objective) - OBJECTIVE_STEP, SOURCE)
        answer = search_chain(completion, incumbent.objective - OBJECTIVE_STEP, width, work)
        if answer.nodes is not None:
            placement = np.empty(form.n_classes, dtype=np.int64)
            placement[[form.classes[c][0] for c in order]] = nodes[answer.nodes]
            incumbent.offer(placement, SOURCE)
        if answer.complete:
            return _proved(incumbent)
        closer = completion.marginals() < incumbent.objective - OBJECTIVE_STEP
        open_places = np.zeros_like(open_places)
        open_places[:, nodes] = closer
    return False


def _proved(incumbent: Incumbent) -> bool:
    incumbent.raise_bound(incumbent.objective - OBJECTIVE_STEP, SOURCE)
    return True


def chain_order(form: ClassForm) -> list[int] | None:
    """Return the classes along the chain, or None if they form no chain or R is no sum along it."""
    if (form.size > 1).any() or len(form.edges) != form.n_classes - 1 or form.n_classes < 2:
        return None
    if form.response_factor > 0 and not all(edge.critical for edge in form.edges):
        return None
    joined: dict[int, set[int]] = {c: set() for c in range(form.n_classes)}
    for edge in form.edges:
        joined[edge.source].add(edge.target)
        joined[edge.target].add(edge.source)
    ends = [c for c in form.order if len(joined[c]) == 1]
    order = ends[:1] if form.response_factor > 0 else sorted(ends)[:1]
    while order and len(ahead := joined[order[-1]].difference(order)) == 1:
        order += ahead
    directed = form.response_factor == 0 or set(pairwise(order)) == {(e.source, e.target) for e in form.edges}
    return order if len(order) == form.n_classes and directed else None


def _chain(form: ClassForm, order: Sequence[int]) -> Chain | None:
    """Return the chain, or None if the operators that share slots ask for different amounts."""
    open_places = form.slots[order] > 0
    shares = open_places.sum(axis=1) > 1
    demand = form.demand[order]
    capacity = form.capacity.copy()
    for i in np.flatnonzero(~shares).tolist():
        capacity[open_places[i]] -= demand[i]
    if not shares.any():
        slots = np.zeros(form.n_nodes, dtype=np.int64)
    elif (demand[shares] == demand[shares][0]).all():
        most = most_members(demand[shares][0], capacity)
        slots = np.minimum(most, shares.sum()).astype(np.int64)
    else:
        return None
    open_places = open_places & ((slots > 0) | ~shares[:, None])
    between = {(edge.source, edge.target): edge for edge in form.edges}
    pairs = np.zeros((len(order) - 1, form.n_nodes, form.n_nodes))
    for i in range(len(order) - 1):
        ends = (order[i], order[i + 1])
        forward = ends in between
        edge = between[ends if forward else ends[::-1]]
        if edge.cost is not None:
            pairs[i] += edge.cost if forward else edge.cost.T
        if edge.critical:
            pairs[i] += form.response_factor * form.delay_ms
    unary = form.unary[order] + form.response_factor * form.execution_ms[order]
    return Chain(form.constant, unary, pairs, open_places, shares, slots)
