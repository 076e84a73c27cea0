"""Re-placement (paper 001) in the model: second plans, search and optimum, readings that only seem to change.

    python -m benchmarks.replacement [--second-plans N] [--small N] [--large N] [--runs N]

*Second plans*: a random topology runs somewhere, a plan is carried out, and the next one sees the same data.
Chains, trees and DAGs of four operators on four nodes, both readings of what a node costs, without and with a
threshold.
*Search*: `odr-search` beside the certified optimum: 10 operators on 20 nodes in 1 s; 20 on 100 in 2 s.
*Placeholders*: scenario P without the node that joins, on availabilities drawn anew in each cycle.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, get_args

import numpy as np

from benchmarks.announced import announced
from experiments.machine import provenance
from experiments.replacement.cycles import run_cycles
from experiments.replacement.placeholders import placeholders
from experiments.replacement.scenario import SCENARIO_P, read_scenario
from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.instances.generators.replacement import Shape, replacement, running
from scheduler.plan import plan
from scheduler.strategies.odr import OdrParameters

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

COST_MODELS = ("per-operator", "per-node")
SHAPES: tuple[Shape, ...] = get_args(Shape)
THRESHOLDS = (0.0, 0.02)
"""Least gain in F for which a plan is carried out."""
EXACT_LIMIT_S = 120.0


def main() -> None:
    """Measure, and write tables to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--second-plans", type=int, default=10_000, help="random topologies")
    parser.add_argument("--small", type=int, default=50, help="problems of 10 operators on 20 nodes")
    parser.add_argument("--large", type=int, default=10, help="problems of 20 operators on 100 nodes")
    parser.add_argument("--runs", type=int, default=20, help="runs of scenario P on placeholders")
    arguments = parser.parse_args()
    print(provenance().line())
    print("\n| shape | cost model | threshold | problems | moved by the first plan | by the second |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    cells = list(product(SHAPES, COST_MODELS, THRESHOLDS))
    for number, (shape, model, threshold) in enumerate(announced(cells, str)):
        seeds = range(number, arguments.second_plans, len(cells))
        first, second = second_plans(seeds, shape, model, threshold)
        print(f"| {shape} | {model} | {threshold:g} | {len(seeds)} | {first} | {second} |")
    print("\n| operators | nodes | s | problems | certified | worst above it | median | proof, s, at most |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    print(searched(10, 20, 1.0, arguments.small))
    print(searched(20, 100, 2.0, arguments.large))
    moved, cycles = on_placeholders(arguments.runs)
    print(f"\nplaceholders: something moved in {moved} of {cycles} cycles")


def second_plans(seeds: range, shape: Shape, cost_model: str, threshold: float) -> tuple[int, int]:
    """Return in how many problems the first and the second plan moved something."""
    moved = [0, 0]
    for seed in seeds:
        random = np.random.default_rng(seed)
        problem = replacement(shape, 4, 4, random, cost_model)  # type: ignore[arg-type]  # one of `COST_MODELS`
        current = random.integers(0, 4, 4)
        for turn in (0, 1):
            now = running(problem, current)
            found = plan(now, "odr")
            if found.placement is None or found.evaluation is None:
                break
            gain = evaluate(now, current).objective - found.evaluation.objective
            # what breaks a constraint has to move, whatever that gains
            if (found.placement != current).any() and (gain > threshold or check(now, current)):
                moved[turn] += 1
                current = found.placement
    return moved[0], moved[1]


def searched(operators: int, nodes: int, seconds: float, count: int) -> str:
    """Return a row of the table: the search within its time beside the proof."""
    above, took, certified = [], [], 0
    title = f"{operators} operators on {nodes} nodes, seed {{}}"
    for seed in announced(range(count), title.format):
        problem = started(operators, nodes, seed)
        start = time.monotonic()
        proof = Deadline(time.monotonic, start + EXACT_LIMIT_S)
        exact = plan(problem, "odr", OdrParameters(work_limit=None), deadline=proof)
        took.append(time.monotonic() - start)
        found = plan(problem, "odr-search", deadline=Deadline(time.monotonic, time.monotonic() + seconds))
        if exact.evaluation is None or found.evaluation is None:
            sys.stderr.write(f"seed {seed}: {exact.status} {exact.reason}, {found.status} {found.reason}\n")
            continue
        if exact.status == "optimal":
            certified += 1
            above.append(found.evaluation.objective / max(exact.evaluation.objective, OBJECTIVE_STEP) - 1.0)
    worst, middle = max(above, default=math.nan), statistics.median(above or [math.nan])
    counts = f"| {operators} | {nodes} | {seconds:g} | {len(took)} | {certified} "
    return f"{counts}| {worst:.2%} | {middle:.2%} | {max(took):.1f} |"


def started(operators: int, nodes: int, seed: int) -> Problem:
    """Return a random problem that runs where `even` put it."""
    random = np.random.default_rng(seed)
    problem = replacement(SHAPES[seed % len(SHAPES)], operators, nodes, random)
    first = plan(problem, "even", seed=seed)
    return running(problem, first.placement)


def on_placeholders(runs: int) -> tuple[int, int]:
    """Return in how many cycles something moved though nothing real changed, and of how many."""
    plain = read_scenario(SCENARIO_P)
    calm = replace(plain, joins_s={"fog-2": 2 * plain.duration_s})
    moved = cycles = 0
    for seed in range(runs):
        run = run_cycles(calm, read=placeholders(np.random.default_rng(seed)))
        moved += run.cycles_with_moves
        cycles += len(run.cycles) - 1
    return moved, cycles


if __name__ == "__main__":
    main()
