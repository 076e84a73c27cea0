"""Places of a graph that are worth looking at, by what the graph costs at least with each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts


def least_on_nodes(
    form: FlowForm,
    parts: GraphParts,
    own: FloatArray,
    along: FloatArray | None,
    sending: int,
    *,
    bound: bool,
) -> FloatArray:
    """Return (n_free, n_nodes) what a graph costs at least with each free block on each node.

    Of flows that close a circle nothing is asked: what is left is a tree, over whose flows the least costs go
    from block to block.

    Args:
        form: The form.
        parts: The graph.
        own: (n_free, n_nodes) what blocks cost by themselves; infinite for what is no place.
        along: (n_nodes, n_nodes) F per byte/s by prices of routes; None without prices.
        sending: Nodes of a block that its neighbours look at.
        bound: Whether neighbours expect from all other nodes what the next one costs by itself, so that no
            cost is below what is returned; else they expect nothing of these.
    """
    count = len(parts.free)
    tree, roots = parts.tree
    # from the blocks that are farthest from the roots to these, and back
    inbound: list[dict[int, FloatArray]] = [{} for _ in range(count)]
    for flow, farther, nearer in reversed(tree):
        value = own[farther] + sum(inbound[farther].values())
        inbound[nearer][farther] = _sent(form, flow, value, along, sending, bound=bound)
    of_root = {root: float((own[root] + sum(inbound[root].values())).min()) for root in roots}
    for flow, farther, nearer in tree:
        others = [each for sender, each in inbound[nearer].items() if sender != farther]
        inbound[farther][nearer] = _sent(form, flow, own[nearer] + sum(others), along, sending, bound=bound)
    least = np.array([own[k] + sum(inbound[k].values()) for k in range(count)]).reshape(own.shape)
    total = sum(of_root.values())
    if len(roots) > 1 and np.isfinite(total):
        owner = list(range(count))
        for _, farther, nearer in tree:
            owner[farther] = owner[nearer]
        least += np.array([total - of_root[root] for root in owner])[:, None]
    return least


def _sent(
    form: FlowForm, flow: int, value: FloatArray, along: FloatArray | None, sending: int, *, bound: bool
) -> FloatArray:
    """Return (n_nodes,) the least of a sender's values (n_nodes,) and its flow to each node."""
    order = np.argpartition(value, sending) if len(value) > sending else np.arange(len(value))
    near = order[:sending]
    way = form.weight[flow] * form.distance[near]
    if along is not None:
        way += form.flow[flow] * along[near]
    way += value[near, None]
    least: FloatArray = way.min(axis=0)
    return np.minimum(least, value[order[sending]]) if bound and len(value) > sending else least


def cheapest(least: FloatArray, most: int) -> tuple[IntArray, float]:
    """Return (n_free, most) nodes, and what the graph costs at least with any block elsewhere.

    Args:
        least: As `least_on_nodes` returns it.
        most: Nodes per block (>= 1), at most all.
    """
    if most >= least.shape[1]:
        every = np.tile(np.arange(least.shape[1]), (len(least), 1))
        return every, np.inf
    order = np.argpartition(least, most, axis=1)
    beyond = np.take_along_axis(least, order[:, most, None], axis=1)
    return order[:, :most], float(beyond.min(initial=np.inf))
