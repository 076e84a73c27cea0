"""Strategies over edge, fog and cloud on the problems of paper 002, beside the optimum.

    python -m benchmarks.edge_fog_cloud [--seeds N] [--limit S]

Three networks of 23 to 100 nodes, sets of 5, 10 and 15 graphs, edge links four times as wide as the paper
prints them (as printed most problems have no solution). Gaps are to the cost that `inop-exact` finds within
the limit, or to a lower one of another strategy; times are those of one run, solvers in child processes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from itertools import product

from benchmarks.announced import announced
from bridge.children.processes import ChildProcesses
from experiments.machine import provenance
from scheduler.base.deadline import Deadline
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS
from scheduler.instances.generators.terminal_graphs import paper_problem
from scheduler.plan import plan
from scheduler.registry import STRATEGIES

SETS = (1, 6, 11)
NAMES = tuple(name for name in STRATEGIES if name.startswith("inop-") or name == "cloud-greedy")


@dataclass(frozen=True)
class Run:
    """What a strategy did on a problem.

    Attributes:
        strategy: Its name.
        cost: F of its placement; None if it found none.
        proved: Whether it proved the placement, or that there is none.
        seconds: It took so long.
    """

    strategy: str
    cost: float | None
    proved: bool
    seconds: float


def main() -> None:
    """Measure, and write a table to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3, help="problems of each kind")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per strategy and problem")
    arguments = parser.parse_args()
    print(provenance().line())
    print("\n| network | graphs | strategy | solved | proved | gap, mean | worst | s, median | longest |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    kinds = list(product(UNDERLAYS, SETS))
    with ChildProcesses() as children:
        children.warm_up()
        for underlay, graph_set in announced(kinds, lambda each: f"network {each[0]}, set {each[1]}"):
            problems = [
                measured(underlay, graph_set, s, arguments.limit, children) for s in range(arguments.seeds)
            ]
            for name in NAMES:
                print(row(underlay, graph_set, name, problems), flush=True)


def measured(
    underlay: int, graph_set: int, seed: int, limit_s: float, children: ChildProcesses
) -> dict[str, Run]:
    """Return what each strategy does on a problem."""
    problem = paper_problem(underlay, graph_set, seed)
    runs = {}
    for name in NAMES:
        start = time.monotonic()
        deadline = Deadline(time.monotonic, start + limit_s)
        found = plan(problem, name, deadline=deadline, children=children)
        cost = None if found.evaluation is None else found.evaluation.objective
        runs[name] = Run(name, cost, found.status == "optimal", time.monotonic() - start)
    return runs


def row(underlay: int, graph_set: int, name: str, problems: list[dict[str, Run]]) -> str:
    """Return a row of the table."""
    gaps = []
    for runs in problems:
        # what overfills links is no placement to compare with
        known = [
            each.cost for each in runs.values() if each.cost is not None and each.strategy != "cloud-greedy"
        ]
        cost = runs[name].cost
        if cost is not None and known:
            gaps.append(max(0.0, cost / min(known) - 1.0))
    seconds = [runs[name].seconds for runs in problems]
    proved = sum(runs[name].proved for runs in problems)
    shown = ["-", "-"] if not gaps else [f"{100 * each:.2f} %" for each in (statistics.mean(gaps), max(gaps))]
    times = f"{statistics.median(seconds):.2f} | {max(seconds):.2f}"
    counts = f"{len(gaps)} of {len(problems)} | {proved}"
    return f"| {underlay} | {graph_set + 4} | `{name}` | {counts} | {' | '.join(shown)} | {times} |"


if __name__ == "__main__":
    main()
