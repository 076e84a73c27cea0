"""Pinning: the first operator of each graph goes near its sources (paper 002, section IV-B)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.capacity import fits
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.metrics.placement_cost import PLACEMENT_COST

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem
    from scheduler.model.underlay import Underlay

REACH = 2
"""Links between an operator and each of several sources at most; behind a single one, one link."""


def pinned(problem: Problem, underlay: Underlay) -> dict[str, str]:
    """Return the node of the first operator behind a source of each graph that has one, by names.

    It is the one with the least penalty: what the operator costs there, and the mean cost of the links at
    that node, each by its weight; among equals the first. The paper does not look at capacities; here nodes
    without room are left out, and a graph whose operator has room nowhere gets no pin.

    Args:
        problem: The problem.
        underlay: Its links.
    """
    application, network = problem.application, problem.network
    beside = underlay.beside
    penalty = _penalty(problem, underlay)
    left = np.array(problem.capacity)
    chosen: dict[str, str] = {}
    for g in range(application.graphs.count):
        first = _first(problem, g)
        if first is None:
            continue
        operator, sources = first
        near = _near(beside, sources)
        near &= problem.allowed[operator] & fits(problem.demand[operator], left)
        if near.any():
            at = np.flatnonzero(near)
            node = int(at[penalty[operator, at].argmin()])
            left[node] -= problem.demand[operator]
            chosen[application.operators[operator].name] = network.nodes[node].name
    return chosen


def _first(problem: Problem, graph: int) -> tuple[int, IntArray] | None:
    """Return the first free operator of a graph that is directly behind a source, and the sources' nodes."""
    application, terminal = problem.application, problem.application.terminal
    for i in application.order.tolist():
        if application.graphs.member[i] != graph or terminal[i] or not problem.movable[i]:
            continue
        # what lies on no path, such as acknowledgements, makes nothing the first operator
        before = application.stream_source[(application.stream_target == i) & application.critical]
        sources = np.unique(before[terminal[before]])
        if sources.size:
            return i, np.array([int(problem.allowed[s].argmax()) for s in sources.tolist()])
    return None


def _near(beside: BoolArray, sources: IntArray) -> BoolArray:
    """Return (n_nodes,) which nodes are near all sources."""
    near = np.ones(len(beside), dtype=np.bool_)
    for node in np.unique(sources).tolist():
        reached = beside[node]
        for _ in range(1, REACH if len(sources) > 1 else 1):
            reached = beside[reached].any(axis=0)
        near &= reached
    return near


def _penalty(problem: Problem, underlay: Underlay) -> FloatArray:
    """Return (n_ops, n_nodes) the penalty of each operator on each node."""
    count = problem.n_nodes
    if underlay.near is None:
        ends = underlay.ends.ravel()
        cost, there = np.repeat(underlay.cost, 2), ends >= 0
        links = np.bincount(ends[there], minlength=count)
        total = np.bincount(ends[there], cost[there], count)
    else:
        apart = underlay.near & ~np.eye(count, dtype=np.bool_)
        links, total = apart.sum(axis=1), (problem.network.stream_costs.matrix() * apart).sum(axis=1)
    mean = total / np.maximum(links, 1)
    scale, places = problem.scale, problem.terms.places.get(PLACEMENT_COST.name, np.zeros(count))
    penalty: FloatArray = scale.factor(PLACEMENT_COST.name) * places + scale.factor(LINK_COST.name) * mean
    return np.broadcast_to(penalty, (problem.n_ops, count))
