"""The worked example of edge, fog and cloud: five operators, two graphs, six nodes, by brute force."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

FILE = Path("benchmarks/instances/tiers/worked-example.json")
FREE = ("a.o1", "a.o2", "b.o3", "b.o4", "b.o5")
LINKS = ("c1-c2", "c1-f1", "c2-f2", "f1-f2", "f1-e1", "f2-e2", "e1-e2")


def document() -> dict[str, Any]:
    """A fresh copy of the instance document."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def weighed(alpha: float) -> dict[str, Any]:
    """The example with another weight of placement cost."""
    changed = document()
    changed["objective"]["weights"] = {"placement_cost": alpha, "link_cost": 1 - alpha}
    return changed


def narrowed(**bandwidths: float) -> dict[str, Any]:
    """The example with other bandwidths, by ``e1_e2`` and the like."""
    changed = document()
    for title, most in bandwidths.items():
        changed["network"]["links"][LINKS.index(title.replace("_", "-"))]["bandwidth_bytes_per_s"] = most
    return changed


def networked(**entries: object) -> dict[str, Any]:
    """The example with further entries of its network."""
    changed = document()
    changed["network"] |= entries
    return changed


def side_by_side() -> dict[str, Any]:
    """The example where neighbours share a node or sit on nodes that a link joins."""
    return document() | {"constraints": {"adjacent": [{}]}}


def unlimited() -> dict[str, Any]:
    """The example without any capacity or bandwidth."""
    changed = networked(bandwidth_sum="none")
    for node in changed["network"]["nodes"]:
        node["capacity"] = {}
    return changed


def relaying() -> dict[str, Any]:
    """The example in which all nodes relay."""
    changed = document()
    for node in changed["network"]["nodes"]:
        node["relay"] = True
    return changed


def within(most_ms: float) -> dict[str, Any]:
    """The example with a limit for the sink of graph a, of operators that take no time."""
    changed = document()
    changed["application"]["latency_limit_ms"] = {"a.snk": most_ms}
    for operator in changed["application"]["operators"]:
        operator["execution_time_ms"] = 0.0
    return changed


def named(problem: Problem, placement: IntArray) -> str:
    """The nodes of the free operators."""
    index = problem.application.index
    return " ".join(problem.network.nodes[placement[index[each]]].name for each in FREE)


def every_feasible(problem: Problem) -> Iterator[tuple[float, IntArray]]:
    """F and placement of all placements that break nothing."""
    index = problem.application.index
    placement = np.array([int(row.argmax()) for row in problem.allowed])
    free = [index[each] for each in FREE]
    for nodes in product(*(np.flatnonzero(problem.allowed[i]).tolist() for i in free)):
        placement[free] = nodes
        if not check(problem, placement):
            yield evaluate(problem, placement).objective, placement.copy()


def parsed(changed: dict[str, Any] | None = None) -> Problem:
    """The problem of a document, of the example as it is if none is given."""
    return parse_instance(document() if changed is None else changed)
