"""Large problems: thousands of executors on networks by coordinates, each case in a process of its own.

    python -m benchmarks.large_placement [--limit SECONDS] [--case NAME]...

Prints one JSON object per case and strategy: seconds to construct the problem, seconds until the first
feasible answer is reported or returned (construction included), seconds of the strategy, the peak of resident
memory of the process, F, raw metrics and the reason. Seeds are fixed; strategies that search on get `--limit`
seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.machine import PROJECT, provenance
from experiments.sweep.one_run import solve
from scheduler.contract.children import INLINE
from scheduler.model.link_table import Coordinates
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from scheduler.contract.strategy import Progress

SEED = 7
COMPONENTS = 6
"""Components in a row; executors of neighbouring ones are joined at random, as shuffle grouping joins all."""
NODES_PER_SITE = 40
PLANE_MS = 60.0
SPREAD_MS = 1.0
PATIENCE_S = 600


@dataclass(frozen=True)
class Case:
    """A problem, and what is run on it.

    Attributes:
        name: As on the command line.
        executors: Number of operators.
        streams: Number of streams.
        nodes: Number of nodes.
        pinned: Whether the first and the last operator are pinned to one node.
        strategies: Names in the registry.
    """

    name: str
    executors: int
    streams: int
    nodes: int
    pinned: bool
    strategies: tuple[str, ...]


CASES = (
    Case("20x100", 20, 40, 100, True, ("greedy", "local-search", "ils")),
    Case("20x10000", 20, 40, 10_000, True, ("greedy", "local-search", "ils")),
    Case("200x5000", 200, 2_000, 5_000, True, ("greedy", "local-search", "ils")),
    Case("1000x1000", 1_000, 5_000, 1_000, False, ("greedy", "local-search", "ils")),
    Case("1000x1000-dense", 1_000, 50_000, 1_000, False, ("greedy", "local-search", "ils")),
    Case("5000x10000", 5_000, 100_000, 10_000, False, ("greedy", "local-search", "ils")),
)


def make_parts(
    case: Case,
) -> tuple[
    tuple[Operator, ...],
    tuple[Stream, ...],
    tuple[Node, ...],
    np.ndarray[tuple[int, int], np.dtype[np.float64]],
]:
    """Return operators, streams, nodes and coordinates of a case."""
    random = np.random.default_rng(SEED)
    names = [f"executor-{k}" for k in range(case.executors)]
    pins = {0, case.executors - 1} if case.pinned else set()
    operators = tuple(
        Operator(name, float(ms), allowed=("node-0",) if k in pins else None)
        for k, (name, ms) in enumerate(zip(names, random.uniform(0.5, 5.0, case.executors), strict=True))
    )
    bounds = np.linspace(0, case.executors, COMPONENTS + 1).astype(np.int64)
    of = random.integers(0, COMPONENTS - 1, case.streams)
    source = random.integers(bounds[of], bounds[of + 1]).tolist()
    target = random.integers(bounds[of + 1], bounds[of + 2]).tolist()
    rate = random.uniform(1.0, 100.0, case.streams).tolist()
    streams = tuple(
        Stream(names[i], names[j], r, 100.0) for i, j, r in zip(source, target, rate, strict=True)
    )
    sites = max(1, case.nodes // NODES_PER_SITE)
    site = random.integers(0, sites, case.nodes)
    points = random.uniform(0.0, PLANE_MS, (sites, 2))[site] + random.normal(0.0, SPREAD_MS, (case.nodes, 2))
    nodes = tuple(
        Node(f"node-{u}", {"slots": 4.0}, float(speed), float(up), f"site-{where}")
        for u, (speed, up, where) in enumerate(
            zip(
                random.choice([1.0, 2.0], case.nodes),
                random.uniform(0.97, 1.0, case.nodes),
                site.tolist(),
                strict=True,
            )
        )
    )
    return operators, streams, nodes, np.column_stack([points, random.uniform(0.0, 0.5, case.nodes)])


def measure(case: Case, strategy: str, limit_s: float) -> dict[str, object]:
    """Return the figures of one run in this process."""
    operators, streams, nodes, coordinates = make_parts(case)
    start = time.perf_counter()
    objective = Objective({"response_time": 0.5, "availability": 0.25, "network_usage": 0.25})
    network = Network(nodes, Coordinates.of(coordinates))
    problem = Problem(Application(operators, streams), network, objective)
    constructed = time.perf_counter()
    first: list[float] = []

    def note(_progress: Progress, /) -> None:
        first.append(time.perf_counter())

    time_limit_s = limit_s if STRATEGIES[strategy].anytime else None
    result = solve(problem, strategy, 0, time_limit_s, INLINE, report=note)
    ended = time.perf_counter()
    worth = result.evaluation
    if worth is None:
        raise SystemExit(f"{case.name}: {strategy}: {result.reason}")
    return {
        **{key: value for key, value in asdict(case).items() if key != "strategies"},
        "strategy": strategy,
        "construct_s": round(constructed - start, 4),
        "first_answer_s": round((first[0] if first else ended) - start, 4),
        "solve_s": round(ended - constructed, 4),
        "peak_resident_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "objective": round(worth.objective, 6),
        "response_time_ms": round(worth.response_time_ms, 3),
        "network_usage_bytes": round(worth.values["network_usage"]),
        "reason": result.reason,
    }


def main() -> None:
    """Run every case and strategy in a fresh process, one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for strategies that search on")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    parser.add_argument(
        "--only", choices=sorted(STRATEGIES), help="run this strategy here, print its figures"
    )
    options = parser.parse_args()
    cases = [case for case in CASES if options.case is None or case.name in options.case]
    if options.only:
        print(json.dumps(measure(cases[0], options.only, options.limit)), flush=True)
        return
    print(json.dumps({"provenance": provenance().line(), "limit_s": options.limit}), flush=True)
    for case in cases:
        for strategy in case.strategies:
            command = [sys.executable, "-m", "benchmarks.large_placement", "--case", case.name]
            command += ["--only", strategy, "--limit", str(options.limit)]
            done = subprocess.run(
                command, cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
            print(
                done.stdout.strip() or json.dumps({"case": case.name, "failed": done.stderr[-500:]}),
                flush=True,
            )


if __name__ == "__main__":
    main()
