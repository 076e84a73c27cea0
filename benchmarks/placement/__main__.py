"""Measure the grid, cell by cell; what is measured already is not measured again.

    python -m benchmarks.placement [--full] [--out DIR] [--seeds ...] [--sizes ...] [--strategies ...]

Ctrl-C ends it between two rows at the latest; the same command goes on from there. Without --full the
reduced grid is measured: the smallest and the largest network, one seed, shorter limits.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.announced import announced
from benchmarks.placement.grid import FULL, REDUCED, ProblemKey
from benchmarks.placement.measure import measure
from benchmarks.placement.rows import CELL, append, export, load
from bridge.children.processes import ChildProcesses
from experiments.machine import PROJECT, provenance
from experiments.sweep.one_run import FAILED, solve
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES, paper_problem
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from benchmarks.placement.grid import Variant
    from experiments.machine import Provenance
    from scheduler.contract.children import Children
    from scheduler.model.problem import Problem

INTERRUPTED_STATUS = 130
WARM_UP_S = 1.0

Cell = tuple[ProblemKey, "Variant"]


def main() -> None:
    """Measure the cells that are missing, then export them."""
    arguments = _arguments()
    grid = FULL if arguments.full else REDUCED
    if arguments.sizes:
        grid = dataclasses.replace(grid, sizes=tuple(arguments.sizes))
    if arguments.seeds:
        grid = dataclasses.replace(grid, seeds=tuple(arguments.seeds))
    variants = [
        each
        for each in grid.variants()
        if not arguments.strategies or {each.strategy, each.label} & set(arguments.strategies)
    ]
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    rows = load(folder)
    done = {tuple(row[name] for name in CELL) for row in rows if row["status"] != FAILED}
    proved = {
        ProblemKey(*(row[each.name] for each in dataclasses.fields(ProblemKey))): row["objective_value"]
        for row in rows
        if row["status"] == "optimal"
    }
    cells = [
        (key, each)
        for key in grid.problems(arguments.applications, arguments.objectives)
        for each in variants
        if (key.application, key.objective, key.nodes, key.seed, each.label, each.limit_for(key)) not in done
    ]
    sys.stderr.write(f"grid {grid.name}: {len(cells)} cells to measure, {len(done)} rows in {folder}\n")
    try:
        with ChildProcesses() as children:
            _warm_up(variants if cells else [], children)
            _measure(cells, folder, children, provenance(), proved)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command goes on from here\n")
        raise SystemExit(INTERRUPTED_STATUS) from None
    finally:
        export(folder)
    sys.stderr.write(f"all cells measured; python -m benchmarks.placement.report {folder}\n")


def _measure(
    cells: list[Cell],
    folder: Path,
    children: Children,
    origin: Provenance,
    proved: dict[ProblemKey, float | None],
) -> None:
    made: tuple[ProblemKey, Problem] | None = None
    for key, variant in announced(cells, lambda cell: f"{cell[0]}: {cell[1].label}"):
        if made is None or made[0] != key:
            made = key, paper_problem(key.application, key.nodes, OBJECTIVES[key.objective], key.seed)
        row = measure(key, made[1], variant, children, origin, optimum=proved.get(key))
        if row["status"] == "optimal":
            proved[key] = row["objective_value"]
        append(folder, row)


def _warm_up(variants: list[Variant], children: Children) -> None:
    """Run everything once on a small problem, so that no first cell pays for loading solvers."""
    problem = paper_problem("replicated", 16, OBJECTIVES["R"], 0)
    for each in variants:
        solve(problem, each.strategy, 0, None if each.limit_s is None else WARM_UP_S, children)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the whole grid: 300 problems")
    parser.add_argument(
        "--out", type=Path, default=PROJECT / "runs" / "placement", help="folder for the rows"
    )
    parser.add_argument("--seeds", type=int, nargs="+", help="seeds of the networks")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of nodes, squares")
    parser.add_argument("--applications", nargs="+", choices=list(APPLICATIONS), default=list(APPLICATIONS))
    parser.add_argument("--objectives", nargs="+", choices=list(OBJECTIVES), default=list(OBJECTIVES))
    parser.add_argument("--strategies", nargs="+", metavar="NAME", help="strategies, or labels as 'ils 2 s'")
    arguments = parser.parse_args()
    known = {*STRATEGIES} | {each.label for grid in (FULL, REDUCED) for each in grid.variants()}
    for name in arguments.strategies or ():
        if name not in known:
            parser.error(f"--strategies: unknown strategy {name!r}; known are {', '.join(sorted(known))}")
    return arguments


if __name__ == "__main__":
    main()
