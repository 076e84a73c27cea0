"""Time per improving step against nodes x operators.

    python -m benchmarks.placement.steps [--out DIR] [--seeds ...] [--steps N]

Layered applications with equal weights on geographic networks: 20 operators on 100 nodes to 320 on 1,600.
From the placement of `even`, which leaves much to improve, local search takes improving steps of its three
kinds in turn; each is the best of its whole neighbourhood. A step that improves nothing is not counted.
For `ils` the time between the first improvements that it reports counts, rounds without one included.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.announced import announced
from experiments.machine import PROJECT, provenance
from experiments.sweep.one_run import solve
from scheduler.base.deadline import NO_DEADLINE
from scheduler.contract.children import INLINE
from scheduler.instances.generators.paper import OBJECTIVES
from scheduler.instances.generators.recipe import Recipe, build
from scheduler.plan import plan
from scheduler.search.descent import Descent

if TYPE_CHECKING:
    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem

STEPS = "steps.json"
SHAPES = ((20, 100), (20, 400), (80, 400), (40, 1600), (160, 800), (80, 1600), (160, 1600), (320, 1600))
"""(operators, nodes)"""
OPERATORS_PER_LAYER = 5
NODES_PER_SITE = 20
TIMED_STEPS = 8
"""Improving steps of each kind per run; fewer if the search comes to its end."""
ITERATED = "ils"
ITERATED_STEPS = 4
ITERATED_LIMIT_S = 20.0


def main() -> None:
    """Measure and write steps.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PROJECT / "runs" / "placement")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=TIMED_STEPS, help="improving steps per kind and run")
    arguments = parser.parse_args()
    cells = [(operators, nodes, seed) for operators, nodes in SHAPES for seed in arguments.seeds]
    points: list[dict[str, Any]] = []
    timed_steps(layered_problem(20, 100, 0), 2)  # the first run of a process loads code
    for operators, nodes, seed in announced(
        cells, lambda cell: "{} operators on {} nodes, seed {}".format(*cell)
    ):
        problem = layered_problem(operators, nodes, seed)
        taken = timed_steps(problem, arguments.steps)
        taken[ITERATED] = timed_improvements(problem, ITERATED_STEPS, ITERATED_LIMIT_S)
        points += [
            {
                "kind": kind,
                "operators": operators,
                "nodes": nodes,
                "size": operators * nodes,
                "seed": seed,
                "steps": len(seconds),
                "seconds_per_step": statistics.median(seconds) if seconds else None,
            }
            for kind, seconds in taken.items()
        ]
    arguments.out.mkdir(parents=True, exist_ok=True)
    document = {"provenance": provenance().line(), "points": points}
    (arguments.out / STEPS).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.stderr.write(f"{arguments.out / STEPS}: {len(points)} points\n")


def layered_problem(operators: int, nodes: int, seed: int) -> Problem:
    """Return one of the problems: a layered application on a geographic network."""
    layers = max(2, operators // OPERATORS_PER_LAYER)
    sites = max(1, nodes // NODES_PER_SITE)
    weights = OBJECTIVES["equal"]
    return build(
        Recipe("layered", "geographic", nodes, weights, seed, operators=operators, layers=layers, sites=sites)
    )


def timed_steps(problem: Problem, most: int) -> dict[str, list[float]]:
    """Return the seconds of improving steps by kind, at most so many of each.

    Raises:
        ValueError: No placement was found to start from.
    """
    start = plan(problem, "even").placement
    if start is None:
        raise ValueError("no placement to start from")
    descent = Descent(problem, start, np.arange(problem.n_nodes))
    kinds = {
        "co-locate": descent.co_locate,
        "swap resources": descent.swap_resources,
        "move single": descent.move_single,
    }
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    improved = True
    while improved and min(map(len, taken.values())) < most:
        improved = False
        for kind, step in kinds.items():
            before, began = descent.rank, time.perf_counter()
            step(NO_DEADLINE)
            seconds = time.perf_counter() - began
            if descent.rank != before:
                improved = True
                if len(taken[kind]) < most:
                    taken[kind].append(seconds)
    return taken


def timed_improvements(problem: Problem, most: int, limit_s: float) -> list[float]:
    """Return the seconds between the first improvements of the iterated local search, at most so many."""
    moments: list[float] = []

    def listen(_progress: Progress, /) -> None:
        moments.append(time.monotonic())

    def clock() -> float:
        return math.inf if len(moments) > most else time.monotonic()

    solve(problem, ITERATED, 0, limit_s, INLINE, clock=clock, report=listen)
    return [after - before for before, after in pairwise(moments)][:most]


def step_points(document: dict[str, Any]) -> pd.DataFrame:
    """Return the measured points with at least one step."""
    columns = ["kind", "operators", "nodes", "size", "seed", "steps", "seconds_per_step"]
    return pd.DataFrame(document["points"], columns=columns).dropna(subset=["seconds_per_step"])


def growth(points: pd.DataFrame) -> float:
    """Return the exponent of growth of the time per step: 1 is linear in nodes x operators."""
    return float(np.polyfit(np.log(points["size"]), np.log(points["seconds_per_step"]), 1)[0])


if __name__ == "__main__":
    main()
