"""`inop-search` on very many graphs: the bound, and what is found within the limit.

    python -m benchmarks.many_graphs [--factors 1,4,10] [--seeds N] [--limit S]

Networks are like the largest of paper 002, so many times as large; there are as many graphs as nodes, with
four operators a graph. Gaps are to the strategy's own bound. Memory is the most that a process had that did
nothing else.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from itertools import product

from benchmarks.announced import announced
from bridge.children.processes import ChildProcesses
from experiments.machine import provenance
from scheduler.base.deadline import Deadline
from scheduler.instances.generators.terminal_graphs import many_graphs
from scheduler.plan import plan
from scheduler.strategies.inop_search import InopSearchParameters


def main() -> None:
    """Measure, and write a table to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--factors", default="1,4,10", help="hundreds of nodes, separated by commas")
    parser.add_argument("--seeds", type=int, default=2, help="problems of each size")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per problem")
    parser.add_argument("--one", nargs=2, type=int, metavar=("FACTOR", "SEED"), help="one problem, its row")
    arguments = parser.parse_args()
    if arguments.one is not None:
        factor, seed = arguments.one
        print(row(factor, seed, arguments.limit))
        return
    print(provenance().line())
    print("\n| nodes | graphs | operators | solved | cost | bound | gap | s | memory, GB |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    factors = [int(each) for each in arguments.factors.split(",")]
    kinds = list(product(factors, range(arguments.seeds)))
    for factor, seed in announced(kinds, lambda each: f"{100 * each[0]} nodes, problem {each[1]}"):
        one = ["--one", str(factor), str(seed), "--limit", str(arguments.limit)]
        command = [sys.executable, "-m", "benchmarks.many_graphs", *one]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def row(factor: int, seed: int, limit_s: float) -> str:
    """Return a row of the table."""
    problem = many_graphs(factor, seed)
    graphs, operators = len(problem.application.graphs.names), int((problem.demand.sum(axis=1) > 0).sum())
    with ChildProcesses() as children:
        children.warm_up()
        start = time.monotonic()
        deadline = Deadline(time.monotonic, start + limit_s)
        # without patience the limit alone ends the search
        found = plan(
            problem, "inop-search", InopSearchParameters(patience=None), deadline=deadline, children=children
        )
        seconds = time.monotonic() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    size = f"| {len(problem.network.nodes):,} | {graphs:,} | {operators:,}"
    if found.evaluation is None or found.bound is None:
        return f"{size} | {found.status} | - | - | - | {seconds:.1f} | {memory:.2f} |"
    cost = found.evaluation.objective
    gap = f"{100 * (cost / found.bound - 1):.2f} %"
    return (
        f"{size} | {found.status} | {cost:,.0f} | {found.bound:,.0f} | {gap} | {seconds:.1f} | {memory:.2f} |"
    )


if __name__ == "__main__":
    main()
