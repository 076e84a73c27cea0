"""Several topologies on shared hosts (paper 001): proof and search of all at once, and one after the other.

    python -m benchmarks.joint_placement [--problems N]

Three topologies of ten operators (chains, trees and DAGs in turn) run on 20 nodes that are paid once and hold
about one topology each, where `even` put them. *Proof*: `odr` within 10 s. *Search*: `odr-search` in 1 s and
in 2 s beside the optimum. *One after the other*: `odr` for each topology while the others stay, once round,
on the same scale; beside the optimum of all at once.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from benchmarks.announced import announced
from bridge.children.processes import ChildProcesses
from experiments.machine import provenance
from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.instances.generators.replacement import Shape, replacement, running
from scheduler.model.application import Application
from scheduler.model.problem import Problem
from scheduler.plan import plan
from scheduler.strategies.odr import OdrParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.contract.children import Children

SHAPES: tuple[Shape, ...] = get_args(Shape)
OPERATORS, NODES = 10, 20
GOAL_S, PATIENCE_S = 10.0, 120.0
SEARCHES_S = (1.0, 2.0)
CLOSE = 0.01


def main() -> None:
    """Measure, and write a table to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=50, help="random problems")
    arguments = parser.parse_args()
    print(provenance().line())
    proofs: list[float] = []
    above: dict[str, list[float]] = {}
    with ChildProcesses() as children:
        children.warm_up()
        for seed in announced(range(arguments.problems), "problem {}".format):
            problem = running_topologies(seed)
            start = time.monotonic()
            limit = Deadline(time.monotonic, start + PATIENCE_S)
            exact = plan(problem, "odr", OdrParameters(work_limit=None), deadline=limit, children=children)
            if exact.status != "optimal" or exact.evaluation is None:
                sys.stderr.write(f"seed {seed}: {exact.status}: {exact.reason}\n")
                continue
            proofs.append(time.monotonic() - start)
            worths = {f"odr-search, {each:g} s": searched(problem, each, children) for each in SEARCHES_S}
            worths["one after the other"] = evaluate(problem, in_turn(problem, children)).objective
            least = max(exact.evaluation.objective, OBJECTIVE_STEP)
            for name, worth in worths.items():
                above.setdefault(name, []).append(worth / least - 1.0)
    in_time = sum(each <= GOAL_S for each in proofs)
    print(f"\n{in_time} of {arguments.problems} certified in {GOAL_S:g} s, {len(proofs)} in {PATIENCE_S:g} s")
    print(
        f"half of the proofs took at most {statistics.median(proofs):.1f} s, the longest {max(proofs):.1f} s"
    )
    print("\n| F above the optimum | median | worst | within 1 % |")
    print("| --- | ---: | ---: | ---: |")
    for name, each in above.items():
        print(row(name, each))


def running_topologies(seed: int) -> Problem:
    """Return topologies that run where `even` put them."""
    random = np.random.default_rng(seed)
    shapes = [SHAPES[(seed + i) % len(SHAPES)] for i in range(len(SHAPES))]
    problem = replacement(shapes, OPERATORS, NODES, random, "per-node")
    return running(problem, plan(problem, "even", seed=seed).placement)


def searched(problem: Problem, seconds: float, children: Children) -> float:
    """Return F of what the search finds in so long."""
    limit = Deadline(time.monotonic, time.monotonic() + seconds)
    found = plan(problem, "odr-search", deadline=limit, children=children)
    return float("inf") if found.evaluation is None else found.evaluation.objective


def in_turn(problem: Problem, children: Children) -> IntArray:
    """Return where the topologies are after each has been planned once while the others stayed."""
    placement = np.array(problem.current)
    for graph in range(problem.application.graphs.count):
        moving = problem.application.graphs.member == graph
        found = plan(
            beside(problem, placement, moving), "odr", OdrParameters(work_limit=None), children=children
        )
        if found.placement is not None:
            placement = found.placement
    return placement


def beside(problem: Problem, placement: IntArray, moving: Sequence[bool]) -> Problem:
    """Return the problem of some operators while the others stay where they are, on the scale of all."""
    nodes = problem.network.nodes
    operators = tuple(
        each if moves else replace(each, allowed=(nodes[u].name,))
        for each, moves, u in zip(problem.application.operators, moving, placement.tolist(), strict=True)
    )
    application = Application(operators, problem.application.streams)
    # a metric in which all placements are alike has no range that could be given
    ranges = {name: (low, high) for name, (low, high) in problem.ranges.items() if low < high}
    objective = replace(problem.objective, ranges=ranges)
    return Problem(application, problem.network, objective, problem.current, problem.constraints)


def row(name: str, above: Sequence[float]) -> str:
    """Return a row of the table."""
    close = sum(each <= CLOSE for each in above)
    return f"| {name} | {statistics.median(above):.2%} | {max(above):.2%} | {close} of {len(above)} |"


if __name__ == "__main__":
    main()
