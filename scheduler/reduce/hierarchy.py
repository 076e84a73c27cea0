"""Virtual data centres: a network summed up in ever fewer, larger nodes (paper 000, section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.checks import LARGEST
from scheduler.construct.penalty import link_penalty
from scheduler.model.capacity import fits
from scheduler.model.loading import held
from scheduler.model.metrics.placement_cost import PLACEMENT_COST
from scheduler.model.network import LINK_QUANTITIES, NODE_QUANTITIES
from scheduler.model.problem import Application, Network, Node, Problem
from scheduler.reduce.clustering import between, clusters
from scheduler.reduce.subproblem import renumbered, with_ranges

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The same problem on several networks, the coarsest first; H_res of Algorithm 1.

    Attributes:
        levels: The problem on each level; the last one is the original.
        group: Per level but the first, (n_nodes of that level,) the VDC of the level above that each of its
            nodes belongs to.
    """

    levels: tuple[Problem, ...]
    group: tuple[IntArray, ...]

    def ancestors(self, level: int, above: int) -> IntArray:
        """Return (n_nodes of `level`,) the VDC of the level `above` that each node lies in."""
        nodes = np.arange(self.levels[level].n_nodes)
        for step in range(level, above, -1):
            nodes = self.group[step - 1][nodes]
        return nodes


def create_hierarchy(problem: Problem, grouping_factor: int, random: np.random.Generator) -> Hierarchy:
    """Return the hierarchy with L = round(log_g n_nodes) - 1 levels of VDCs above the nodes.

    Level l has g^(l+1) VDCs. (The paper counts one level more, a single VDC: nothing is decided there.)

    Complexity: O(n_nodes^2) per level and iteration of clustering, O(n_nodes^2) in memory.

    Args:
        problem: The problem on the nodes.
        grouping_factor: g >= 2.
        random: For the clustering.
    """
    height = max(0, round(math.log(problem.n_nodes, grouping_factor)) - 1)
    levels, groups = [problem], []
    for level in reversed(range(height)):
        below = levels[-1]
        group = clusters(between(link_penalty(below)), grouping_factor ** (level + 1), random)
        groups.append(group)
        levels.append(aggregate(below, group))
    return Hierarchy(tuple(reversed(levels)), tuple(reversed(groups)))


def aggregate(problem: Problem, group: IntArray) -> Problem:
    """Return the problem on virtual data centres, of which each stands for a group of nodes.

    Quantities of a VDC (speed-up, availability, ...) are the means over its nodes, its capacity is the sum. A
    link between two VDCs has the mean delay, availability and so on of the links between their nodes. From
    a VDC to itself links are perfect, as they are from a node to itself: the model knows no others, and
    the groups are made so that links within them are good. An operator is allowed where one of the nodes
    could hold it alone, and its image is there if all of these have it; limits on co-location count as often
    as there are nodes. So every placement on nodes is one on VDCs too, and a problem that is infeasible
    on VDCs is infeasible.

    Args:
        problem: The problem on nodes.
        group: (n_nodes,) the VDC of each node, counted from 0 without gaps.
    """
    network = problem.network
    member = (group == np.arange(group.max() + 1)[:, None]).astype(np.float64)
    share = member / member.sum(axis=1, keepdims=True)
    means = {
        name: np.minimum(share @ getattr(network, name), bounds.most).tolist()
        for name, bounds in NODE_QUANTITIES.items()
    }
    # nodes without a limit in practice may name as much as the model permits, each
    capacity = np.minimum(member @ problem.capacity, LARGEST).tolist()
    names = [f"vdc-{k}" for k in range(len(member))]
    holds = _held(problem, member)
    nodes = tuple(
        Node(
            name,
            dict(zip(problem.resources, has, strict=True)),
            holds=holds[k],
            **{quantity: values[k] for quantity, values in means.items()},
        )
        for k, (name, has) in enumerate(zip(names, capacity, strict=True))
    )
    links: dict[str, Any] = {
        link.name: np.minimum(_mean_links(matrix, share, link.diagonal), link.most)
        for link in LINK_QUANTITIES
        if (matrix := getattr(network, link.name)) is not None
    }
    current = problem.current
    return Problem(
        _application(problem, member, names),
        Network(
            nodes,
            _mean_links(network.delay_ms, share, 0.0),
            **links,
        ),
        with_ranges(problem.objective, problem.ranges),
        None if current is None else renumbered(current, group),
        left_price=None if current is None else problem.price_left,
    )


def _held(problem: Problem, member: FloatArray) -> list[tuple[str, ...]]:
    """Return by VDC the operators whose images are on all of its nodes where they are allowed."""
    there = held(problem.application, problem.network)
    if there is None:
        return [()] * len(member)
    everywhere = (problem.allowed & ~there) @ member.T == 0
    names = [operator.name for operator in problem.application.operators]
    return [tuple(names[i] for i in np.flatnonzero(everywhere[:, k])) for k in range(len(member))]


def _by_name(names: list[str], values: FloatArray) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))


def _mean_links(matrix: FloatArray, share: FloatArray, diagonal: float) -> FloatArray:
    mean: FloatArray = share @ matrix @ share.T
    np.fill_diagonal(mean, diagonal)
    return mean


def _application(problem: Problem, member: FloatArray, names: list[str]) -> Application:
    """Return the application with all resources demanded by name, limits included, allowed on VDCs."""
    usable = problem.allowed & fits(problem.demand[:, None, :], problem.capacity[None, :, :])
    allowed: BoolArray = usable.astype(np.float64) @ member.T > 0
    # hard limits are in what is allowed; queues of the mean speed-up may grow where those of a member do not
    objective = problem.objective
    limited = objective.duration_limit == "soft" and objective.duration_model == "measured"
    costs = problem.terms.places.get(PLACEMENT_COST.name)
    share = member / member.sum(axis=1, keepdims=True)
    operators = tuple(
        replace(
            operator,
            demand=dict(zip(problem.resources, problem.demand[i].tolist(), strict=True)),
            duration_max_ms=operator.duration_max_ms if limited else 0.0,
            placement_cost=None if costs is None or costs.ndim == 1 else _by_name(names, share @ costs[i]),
            allowed=None if allowed[i].all() else tuple(names[k] for k in np.flatnonzero(allowed[i])),
        )
        for i, operator in enumerate(problem.application.operators)
    )
    return replace(problem.application, operators=operators)
