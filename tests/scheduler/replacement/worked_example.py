"""The worked example of re-placement: four operators, three nodes, twelve cases, worked out by brute force.

Times are in ms, sizes in MB, prices in cost units per second. Nodes: cloud, fog1, fog2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.evaluation.batch import BatchConstraints
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

CLOUD, FOG1, FOG2 = range(3)
NODES = ("cloud", "fog1", "fog2")
EQUAL = {"response_time": 0.25, "availability": 0.25, "cost": 0.25, "migration": 0.25}
AFTER_CASE_1 = ("fog1", "cloud", "fog1", "cloud")


@dataclass(frozen=True)
class Case:
    """A case with what it has to give.

    Attributes:
        feasible: Number of placements that meet everything, budgets included.
        optimum: Node of each operator, None if there is none.
        values: Response time (ms), availability, cost, migration cost.
        score: What paper 001 maximises: 1 - F.
        stay: The score of staying; None if that is no placement.
        stay_breaks: How many constraints staying breaks.
        moves: (operator, seconds to load, price) of each move.
        changes: What is different in the instance document, by its path.
        ranges: Where the ranges of the table differ.
    """

    feasible: int
    optimum: tuple[int, ...] | None
    values: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    score: float = 0.0
    stay: float | None = None
    stay_breaks: int = 0
    moves: tuple[tuple[str, float, float], ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)


O2_TO_FOG2, O4_TO_FOG2 = ("o2", 24.0, 60.0), ("o4", 60.0, 150.0)
O3_TO_FOG2 = ("o3", 40.0, 100.0)
SLOW = {"actual_ms": (120.0, 300.0, 600.0, 2200.0), "actual_speedup": (1.5, 1.0, 1.5, 1.0)}
CASES = {
    "1": Case(
        6, (1, 0, 1, 0), (1800.0, 0.904013, 92.0, 0.0), 0.824798, changes={"nodes": (0, 1), "current": None}
    ),
    "2a": Case(
        23,
        (1, 2, 1, 2),
        (910.0, 0.849512, 66.0, 210.0),
        0.614571,
        0.590566,
        moves=(O2_TO_FOG2, O4_TO_FOG2),
    ),
    "2b": Case(
        23,
        (1, 1, 2, 2),
        (826.666667, 0.849512, 66.0, 341.5),
        1.0,
        0.193370,
        moves=(("o2", 3.0, 91.5), O3_TO_FOG2, O4_TO_FOG2),
        changes={"weights": {"response_time": 1.0}},
    ),
    "2c": Case(
        5,
        (1, 0, 0, 0),
        (1966.666667, 0.913238, 77.0, 62.0),
        0.610858,
        0.590566,
        moves=(("o3", 4.0, 62.0),),
        changes={"budget": {"migration": 100}},
    ),
    "2d": Case(
        8,
        (1, 2, 1, 2),
        (910.0, 0.849512, 66.0, 210.0),
        0.662896,
        0.875009,
        1,
        moves=(O2_TO_FOG2, O4_TO_FOG2),
        changes=SLOW,
    ),
    "2e": Case(
        23,
        (1, 0, 0, 0),
        (1966.666667, 0.913238, 77.0, 122.0),
        0.633855,
        0.590566,
        moves=(("o3", 4.0, 122.0),),
        changes={"migration_price": "source"},
    ),
    "2f": Case(
        23,
        (1, 1, 1, 2),
        (910.0, 0.876339, 33.0, 241.5),
        0.738563,
        0.563924,
        moves=(("o2", 3.0, 91.5), O4_TO_FOG2),
        changes={"cost_model": "per-node"},
    ),
    "2g": Case(
        23,
        (1, 0, 1, 0),
        (1800.0, 0.904013, 92.0, 0.0),
        0.836226,
        0.836226,
        changes={"weights": {"response_time": 0.1, "availability": 0.1, "cost": 0.1, "migration": 0.7}},
    ),
    "2h": Case(
        5,
        (1, 2, 1, 2),
        (910.0, 0.849512, 66.0, 0.0),
        0.730240,
        moves=(("o2", 24.0, 0.0), ("o4", 60.0, 0.0)),
        changes={"nodes": (1, 2), "gone": ["cloud"]},
    ),
    "2i": Case(0, None, stay_breaks=1, changes=SLOW | {"actual_ms": (120.0, 300.0, 600.0, 3000.0)}),
    "2j": Case(
        3,
        (1, 0, 2, 0),
        (1726.666667, 0.867576, 64.0, 100.0),
        0.571012,
        0.590566,
        1,
        moves=(O3_TO_FOG2,),
        changes={"budget": {"cost": 70, "migration": 200}},
    ),
    "3": Case(
        23,
        (1, 2, 1, 2),
        (910.0, 0.849512, 66.0, 0.0),
        0.739496,
        0.739496,
        changes={"current": ("fog1", "fog2", "fog1", "fog2")},
    ),
}
"""By name."""


def document(case: Case) -> dict[str, Any]:
    """Return the instance document of a case, without ranges."""
    changes = case.changes
    nodes = changes.get("nodes", (CLOUD, FOG1, FOG2))
    rows = (
        ("o1", 100.0, 1.0, 0.5, 100.0, 300.0),
        ("o2", 250.0, 1.0, 0.5, 120.0, 500.0),
        ("o3", 500.0, 2.0, 1.0, 200.0, 900.0),
        ("o4", 1000.0, 2.0, 1.0, 300.0, 1200.0),
    )
    operators: list[dict[str, Any]] = [
        {
            "name": name,
            "execution_time_ms": time,
            "demand": {"vcpu": vcpu, "mem_gb": memory, "disk_gb": 1.0},
            "image_mb": image,
            "duration_max_ms": most,
        }
        for name, time, vcpu, memory, image, most in rows
    ]
    operators[0]["allowed"] = ["fog1"]
    for key in ("actual_ms", "actual_speedup"):
        for operator, value in zip(operators, changes.get(key, ()), strict=False):
            operator[key] = value
    offers = (
        ("cloud", 1.0, 0.99, 15.5, 50.0, 6.0, 4.0),
        ("fog1", 1.5, 0.98, 30.5, 40.0, 4.0, 3.0),
        ("fog2", 2.0, 0.95, 2.5, 5.0, 4.0, 3.0),
    )
    places = [
        {
            "name": name,
            "speedup": speedup,
            "availability": availability,
            "cost": cost,
            "pull_mb_per_s": pull,
            "capacity": {"vcpu": vcpu, "mem_gb": memory, "disk_gb": 40.0},
        }
        for name, speedup, availability, cost, pull, vcpu, memory in offers
    ]
    delay = np.array([[0, 400, 400], [400, 0, 10], [400, 10, 0]], dtype=float)
    link = np.array([[1, 0.98, 0.98], [0.98, 1, 0.99], [0.98, 0.99, 1]])
    block = np.ix_(nodes, nodes)
    streams = [("o1", "o2"), ("o1", "o3"), ("o2", "o4"), ("o3", "o4")]
    answer: dict[str, Any] = {
        "application": {
            "operators": operators,
            "streams": [{"from": a, "to": b, "rate": 1.0, "tuple_bytes": 1.0} for a, b in streams],
        },
        "network": {
            "nodes": [places[u] for u in nodes],
            "delay_ms": delay[block].tolist(),
            "link_availability": link[block].tolist(),
        },
        "objective": {
            "weights": changes.get("weights", EQUAL),
            **{key: changes[key] for key in ("cost_model", "migration_price") if key in changes},
        },
    }
    current = changes.get("current", AFTER_CASE_1)
    if current is not None:
        answer["current"] = dict(zip(("o1", "o2", "o3", "o4"), current, strict=True))
    for key in ("budget", "gone"):
        if key in changes:
            answer[key] = changes[key]
    return answer


def every_placement(problem: Problem) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return all placements that meet allowed nodes, durations and capacities, and the problem's rules."""
    grid = np.indices((problem.n_nodes,) * problem.n_ops).reshape(problem.n_ops, -1)
    return np.asarray(grid[:, BatchConstraints(problem).met(grid) & problem.built_in[0].met(grid)])


def ranged(case: Case) -> dict[str, Any]:
    """Return the document with exact ranges: over all placements that meet everything but the budgets."""
    plain = document(case)
    loose = parse_instance({key: value for key, value in plain.items() if key != "budget"})
    worth = [evaluate(loose, placement).values for placement in every_placement(loose).T]
    for metric in EQUAL:
        values = [each[metric] for each in worth]
        if values and max(values) > min(values):
            plain["objective"].setdefault("range", {})[metric] = [min(values), max(values)]
    return plain
