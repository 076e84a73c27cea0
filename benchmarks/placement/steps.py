"""Time per improving step against nodes x operators.

    python -m benchmarks.placement.steps [--out DIR] [--seeds ...] [--strategies ...]

Layered applications with equal weights on geographic networks: 20 operators on 100 nodes to 320 on 1,600.
A step is a placement better than all before it that the strategy tells of; its time is that between the first
and the last such placement of a run, divided by their number.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cli.machine import PROJECT, provenance
from cli.progress import StepProgress
from scheduler.deadline import Deadline
from scheduler.generators.paper import OBJECTIVES
from scheduler.generators.recipe import Recipe, build
from scheduler.plan import plan
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from scheduler.problem import Problem
    from scheduler.strategy import Progress

STEPS = "steps.json"
SHAPES = ((20, 100), (20, 400), (80, 400), (40, 1600), (160, 800), (80, 1600), (160, 1600), (320, 1600))
"""(operators, nodes)"""
LAYERS_SHARE = 5
"""Operators per layer, on the mean."""
LIMIT_S = 60.0
MEASURED = ("local-search", "ils")


def main() -> None:
    """Measure and write steps.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PROJECT / "runs" / "placement")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--strategies", nargs="+", default=[each for each in MEASURED if each in STRATEGIES])
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds per run")
    arguments = parser.parse_args()
    cells = [(shape, seed) for shape in SHAPES for seed in arguments.seeds]
    points: list[dict[str, Any]] = []
    with StepProgress(len(cells)) as progress:
        for (operators, nodes), seed in cells:
            progress.step(f"{operators} operators on {nodes} nodes, seed {seed}")
            problem = layered_problem(operators, nodes, seed)
            for strategy in arguments.strategies:
                steps, seconds = timed_steps(problem, strategy, arguments.limit)
                points.append(
                    {
                        "strategy": strategy,
                        "operators": operators,
                        "nodes": nodes,
                        "size": operators * nodes,
                        "seed": seed,
                        "steps": steps,
                        "seconds_per_step": seconds / steps if steps else None,
                    }
                )
    arguments.out.mkdir(parents=True, exist_ok=True)
    document = {"provenance": provenance().line(), "points": points}
    (arguments.out / STEPS).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.stderr.write(f"{arguments.out / STEPS}: {len(points)} points\n")


def layered_problem(operators: int, nodes: int, seed: int) -> Problem:
    """Return one of the problems: a layered application on a geographic network."""
    layers = max(2, operators // LAYERS_SHARE)
    weights = OBJECTIVES["equal"]
    return build(Recipe("layered", "geographic", nodes, weights, seed, operators, layers, sites=nodes // 20))


def timed_steps(problem: Problem, strategy: str, limit_s: float) -> tuple[int, float]:
    """Return the improving steps of a run and the seconds from the first to the last improvement."""
    moments: list[float] = []
    best = float("inf")

    def listen(progress: Progress, /) -> None:
        nonlocal best
        if progress.objective < best:
            best = progress.objective
            moments.append(time.monotonic())

    deadline = Deadline(time.monotonic, time.monotonic() + limit_s)
    plan(problem, strategy, seed=0, deadline=deadline, report=listen)
    return max(0, len(moments) - 1), moments[-1] - moments[0] if moments else 0.0


def step_points(document: dict[str, Any]) -> pd.DataFrame:
    """Return the measured points with at least one step."""
    columns = ["strategy", "operators", "nodes", "size", "seed", "steps", "seconds_per_step"]
    return pd.DataFrame(document["points"], columns=columns).dropna(subset=["seconds_per_step"])


def growth(points: pd.DataFrame) -> float:
    """Return the exponent of growth of the time per step: 1 is linear in nodes x operators."""
    return float(np.polyfit(np.log(points["size"]), np.log(points["seconds_per_step"]), 1)[0])


if __name__ == "__main__":
    main()
