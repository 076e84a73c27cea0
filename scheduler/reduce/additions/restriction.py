"""Restriction: operators run in the tiers that suit the ends of their graph (paper 002, section IV-B)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from scheduler.model.problem import Problem

Mixed = Literal["cloud", "edge", "all"]
"""Tiers of a graph that has ends both at the edge and in the cloud: with the cloud, with the edge, or all."""
MIXED: tuple[Mixed, ...] = ("cloud", "edge", "all")


def restricted(
    problem: Problem, mixed: Mixed = "cloud", apart_from: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the nodes of every free operator of a graph with ends, by names.

    A graph with an end in the cloud keeps to cloud and fog, others keep to edge and fog. Of the paper's two
    sentences on graphs with ends in both, the first one is the default; it names the shift to the fog and the
    time saved, which the second one would not explain.

    Args:
        problem: The problem; its nodes have tiers.
        mixed: What holds for graphs with ends in both.
        apart_from: Operators that are left as they are.
    """
    application, nodes = problem.application, problem.network.nodes
    terminal, graph = application.terminal, application.graphs.member
    chosen: dict[str, tuple[str, ...]] = {}
    for g in range(application.graphs.count):
        own = graph == g
        ends = {
            nodes[u].tier for i in np.flatnonzero(own & terminal) for u in np.flatnonzero(problem.allowed[i])
        }
        if not ends:
            continue
        tiers = _tiers({str(each) for each in ends}, mixed)
        for i in np.flatnonzero(own & ~terminal & problem.movable).tolist():
            name = application.operators[i].name
            if name not in apart_from:
                inside = [nodes[u].name for u in np.flatnonzero(problem.allowed[i]) if nodes[u].tier in tiers]
                chosen[name] = tuple(inside)
    return chosen


def _tiers(ends: set[str], mixed: Mixed) -> set[str]:
    if "cloud" not in ends or ("edge" in ends and mixed == "edge"):
        return {"edge", "fog"}
    return {"edge", "fog", "cloud"} if "edge" in ends and mixed == "all" else {"cloud", "fog"}
