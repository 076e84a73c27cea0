"""The same problem on some of its nodes: what strategies solve that narrow down the network first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.checks import LARGEST
from scheduler.contract.strategy import Context, Progress
from scheduler.model.network import LINK_QUANTITIES, Network
from scheduler.model.problem import ELSEWHERE, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import IntArray
    from scheduler.model.application import Application, Operator
    from scheduler.model.metrics.record import Range
    from scheduler.model.objective import Objective


def restrict(problem: Problem, nodes: IntArray) -> Problem:
    """Return the problem on the given nodes only; its placement p is the placement ``nodes[p]`` of the whole.

    F has the same value in both, because the ranges of the whole problem are kept. (Ranges that an
    objective cannot state, being without width or beyond the largest number of the model, are computed
    anew.) An operator may be left with no allowed node; the problem is infeasible then. Where the
    current placement uses other nodes, the operator runs `ELSEWHERE`.

    Complexity: O(n_ops x k + k^2) for k nodes, plus the streams.

    Args:
        problem: The whole problem.
        nodes: (k,) distinct node indices, at least one; ascending, so that ties are broken alike.
    """
    current = problem.current
    if current is not None:
        position = np.full(problem.n_nodes, ELSEWHERE)
        position[nodes] = np.arange(nodes.size)
        current = renumbered(current, position)
    network = subnetwork(problem.network, nodes)
    remaining = (each.within(network) for each in problem.constraints)
    return replace(
        problem,
        application=_application(problem, nodes),
        network=network,
        constraints=tuple(each for each in remaining if each is not None),
        objective=with_ranges(problem.objective, problem.ranges),
        current=current,
        left_price=None if current is None else problem.price_left,
    )


def renumbered(current: IntArray, position: IntArray) -> IntArray:
    """Return a current placement by other numbers of its nodes, (n_nodes,); marks such as `UNPLACED` stay."""
    return np.where(current < 0, current, position[np.maximum(current, 0)])


def lifting(context: Context, nodes: IntArray) -> Context:
    """Return a context for the part on some nodes; it reports no bounds: they do not hold for all nodes."""

    def report(progress: Progress, /) -> None:
        placement = None if progress.placement is None else nodes[progress.placement]
        context.report(Progress(progress.objective, None, progress.source, placement))

    return replace(context, report=report)


def subnetwork(network: Network, nodes: IntArray) -> Network:
    """Return the network that consists of the given nodes, (k,), and the links between them."""
    block = np.ix_(nodes, nodes)
    matrices: dict[str, Any] = {
        link.name: matrix[block]
        for link in LINK_QUANTITIES
        if (matrix := getattr(network, link.name)) is not None
    }
    return replace(
        network,
        nodes=tuple(network.nodes[u] for u in nodes),
        delays=network.delays.restricted(nodes),
        underlay=None if network.underlay is None else network.underlay.restricted(nodes),
        **matrices,
    )


def with_ranges(objective: Objective, ranges: Mapping[str, Range]) -> Objective:
    """Return the objective with these ranges given, as far as an objective can state them."""
    stated = {metric: (low, high) for metric, (low, high) in ranges.items() if low < high <= LARGEST}
    return replace(objective, ranges=stated)


def _application(problem: Problem, nodes: IntArray) -> Application:
    if all(operator.allowed is None for operator in problem.application.operators):
        return problem.application
    kept = {problem.network.nodes[u].name for u in nodes}

    def narrowed(operator: Operator) -> Operator:
        if operator.allowed is None:
            return operator
        return replace(operator, allowed=tuple(name for name in operator.allowed if name in kept))

    return replace(
        problem.application, operators=tuple(narrowed(each) for each in problem.application.operators)
    )
