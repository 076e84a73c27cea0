"""Places of a graph that are worth looking at, by what the graph costs at least with each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts

    Sent = Callable[[int, int, FloatArray], FloatArray]
    """Of an inner flow, by position, its sender, and what the sender costs at least on each of its places:
    what both cost at least for each place of the other end."""


def least_with(parts: GraphParts, own: FloatArray, sent: Sent) -> FloatArray:
    """Return (n_free, n_places) what a graph costs at least with each place.

    Of flows that close a circle nothing is asked: what is left is a tree, over whose flows the least costs go
    from block to block.

    Args:
        parts: The graph.
        own: (n_free, n_places) what blocks cost by themselves; infinite for what is no place.
        sent: What goes over a flow.
    """
    count = len(parts.free)
    tree, roots = parts.tree
    # from the blocks that are farthest from the roots to these, and back
    inbound: list[dict[int, FloatArray]] = [{} for _ in range(count)]
    for edge, farther, nearer in reversed(tree):
        inbound[nearer][farther] = sent(edge, farther, own[farther] + sum(inbound[farther].values()))
    of_root = {root: float((own[root] + sum(inbound[root].values())).min()) for root in roots}
    for edge, farther, nearer in tree:
        others = [each for sender, each in inbound[nearer].items() if sender != farther]
        inbound[farther][nearer] = sent(edge, nearer, own[nearer] + sum(others))
    least = np.array([own[k] + sum(inbound[k].values()) for k in range(count)]).reshape(own.shape)
    total = sum(of_root.values())
    if len(roots) > 1 and np.isfinite(total):
        owner = list(range(count))
        for _, farther, nearer in tree:
            owner[farther] = owner[nearer]
        least += np.array([total - of_root[root] for root in owner])[:, None]
    return least


def least_on_nodes(
    form: FlowForm,
    parts: GraphParts,
    own: FloatArray,
    along: FloatArray,
    sending: int,
    *,
    bound: bool,
) -> FloatArray:
    """Return (n_free, n_nodes) what a graph costs at least with each free block on each node.

    Args:
        form: The form.
        parts: The graph.
        own: As of `least_with`, for all nodes.
        along: (n_nodes, n_nodes) F per byte/s by prices of routes.
        sending: Nodes of a block that its neighbours look at.
        bound: Whether neighbours expect from all other nodes what the next one costs by itself, so that no
            cost is below what is returned; else they expect nothing of these.
    """
    flows = parts.inner[:, 0].tolist()

    def sent(edge: int, _: int, value: FloatArray) -> FloatArray:
        order = np.argpartition(value, sending) if len(value) > sending else np.arange(len(value))
        near, flow = order[:sending], flows[edge]
        way = form.weight[flow] * form.distance[near]
        way += form.flow[flow] * along[near]
        way += value[near, None]
        least: FloatArray = way.min(axis=0)
        return np.minimum(least, value[order[sending]]) if bound and len(value) > sending else least

    return least_with(parts, own, sent)


def cheapest(least: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """Return (n_free, most) nodes, cheapest first, and (n_free, most + 1) what a graph costs with these.

    The last of these costs is the one with the cheapest node that is left out; infinite if there is none.

    Args:
        least: As `least_on_nodes` returns it.
        most: Nodes per block (>= 1), at most all.
    """
    more = min(most + 1, least.shape[1])
    order = np.argpartition(least, more - 1, axis=1)[:, :more]
    costs = np.take_along_axis(least, order, axis=1)
    rank = np.argsort(costs, axis=1, kind="stable")
    order, costs = np.take_along_axis(order, rank, axis=1), np.take_along_axis(costs, rank, axis=1)
    if more == most:
        costs = np.append(costs, np.full((len(costs), 1), np.inf), axis=1)
    return order[:, :most], costs
