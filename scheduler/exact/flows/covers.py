"""Cuts for what a placement overfills, above all links on fixed routes (covers; docs/design/030)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.exact.flows.flow_form import FlowForm


@dataclass(frozen=True, eq=False)
class Cover:
    """The sum of some places is at most a number.

    Attributes:
        terms: (k, 2) blocks and nodes.
        most: The number.
    """

    terms: IntArray
    most: float


def cover(form: FlowForm, at: IntArray, link: int) -> Cover:
    """Return the cut that keeps a smallest set of flows, which together overfill a link, from all using it.

    Of each flow one end is kept at its node: as long as it is there, and the other end at any node whose
    route to it has the link, the flow uses it. So not all of these blocks can be where their flows use the
    link.

    Args:
        form: The problem.
        at: (n_blocks,) nodes with which the link is overfull.
        link: The link.
    """
    start, end = at[form.ends[:, 0]], at[form.ends[:, 1]]
    on = np.flatnonzero((form.underlay.route[:, start, end] == link).any(axis=0))
    on = on[np.argsort(-form.flow[on], kind="stable")]
    limit = form.bandwidth[link] + TOLERANCE * max(1.0, form.bandwidth[link])
    needed = int(np.searchsorted(np.cumsum(form.flow[on]), limit, side="right")) + 1
    choices = form.allowed.sum(axis=1)
    where: dict[int, IntArray] = {}
    for f in on[:needed].tolist():
        # the end with fewer places is kept, so that the other one has as many as possible
        kept, other = sorted(form.ends[f].tolist(), key=lambda block: int(choices[block]))
        node = at[kept]
        using = np.flatnonzero((form.underlay.route[:, node] == link).any(axis=0) & form.allowed[other])
        for block, nodes in ((kept, np.array([node])), (other, using)):
            known = where.get(block)
            where[block] = nodes if known is None else np.intersect1d(known, nodes)
    free = [block for block in where if choices[block] > 1]
    terms = [(block, node) for block in free for node in where[block].tolist()]
    return Cover(np.array(terms, dtype=np.int64).reshape(len(terms), 2), float(len(free) - 1))


def crowd(form: FlowForm, at: IntArray, node: int, resource: int) -> Cover:
    """Return the cut that keeps a smallest set of blocks, which demand more than a node has, from being
    there.

    Rows keep capacities to the tolerance of a solver only.

    Args:
        form: The problem.
        at: (n_blocks,) nodes with which the node is crowded.
        node: The node.
        resource: Of which it has too little.
    """
    there = np.flatnonzero(at == node)
    there = there[np.argsort(-form.demand[there, resource], kind="stable")]
    limit = form.capacity[node, resource] + TOLERANCE
    needed = int(np.searchsorted(np.cumsum(form.demand[there, resource]), limit, side="right")) + 1
    return _not_all(form, at, there[:needed])


def no_good(form: FlowForm, at: IntArray) -> Cover:
    """Return the cut that forbids one placement."""
    return _not_all(form, at, np.arange(form.n_blocks))


def _not_all(form: FlowForm, at: IntArray, blocks: IntArray) -> Cover:
    free = blocks[form.allowed[blocks].sum(axis=1) > 1]
    return Cover(np.column_stack([free, at[free]]), float(len(free) - 1))
