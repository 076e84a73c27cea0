"""The instance library in benchmarks/instances, and the best that is known about each instance.

    python -m benchmarks.library make                 write the instance files anew from their recipes
    python -m benchmarks.library check                evaluate every stored placement
    python -m benchmarks.library improve [--limit S] [--strategies ...] [--instances ...]

`improve` runs strategies on the instances, stores what is better, and fails if a value lies below a proved
bound. Stored are a placement, its worth, a bound, who found and who proved it, when and at which commit.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.announced import announced
from benchmarks.placement.analysis import SOLVER_TOLERANCE
from bridge.children.processes import ChildProcesses
from experiments.instance_text import instance_text
from experiments.machine import provenance
from experiments.sweep.one_run import solve
from scheduler.base.arrays import ints
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.generators.heterogeneous import NodeChoices
from scheduler.instances.generators.paper import OBJECTIVES
from scheduler.instances.generators.recipe import Recipe, build
from scheduler.instances.writing import named_placement, to_document
from scheduler.model.metrics.catalogue import METRICS, RANGED
from scheduler.model.problem import UNPLACED, CoLocationLimit, Problem
from scheduler.registry import STRATEGIES, anywhere

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.machine import Provenance
    from scheduler.base.arrays import IntArray
    from scheduler.contract.result import Result

FOLDER = Path(__file__).parent / "instances"
BEST_KNOWN = FOLDER / "best-known.json"
LIMIT_S = 10.0
RELATIVE_TOLERANCE = 1e-9
COST_AND_TIME = {"response_time": 0.5, "cost": 0.5}
VARIED = NodeChoices(speedup=(0.5, 1.0, 2.0), slots=(1.0, 2.0, 4.0), cost=(1.0, 2.0, 4.0))

RECIPES: Mapping[str, Recipe] = {
    "paper-sequential-36-R": Recipe("sequential", "two-level", 36, OBJECTIVES["R"]),
    "paper-sequential-100-R": Recipe("sequential", "two-level", 100, OBJECTIVES["R"]),
    "paper-sequential-64-equal": Recipe("sequential", "two-level", 64, OBJECTIVES["equal"]),
    "paper-diamond-49-A": Recipe("diamond", "two-level", 49, OBJECTIVES["A"]),
    "paper-diamond-100-equal": Recipe("diamond", "two-level", 100, OBJECTIVES["equal"]),
    "paper-replicated-36-equal": Recipe("replicated", "two-level", 36, OBJECTIVES["equal"]),
    "paper-replicated-64-Z": Recipe("replicated", "two-level", 64, OBJECTIVES["Z"]),
    "paper-replicated-100-R": Recipe("replicated", "two-level", 100, OBJECTIVES["R"]),
    "varied-replicated-49-equal": Recipe("replicated", "two-level", 49, OBJECTIVES["equal"], choices=VARIED),
    "geographic-layered-30x60-R": Recipe(
        "layered", "geographic", 60, OBJECTIVES["R"], operators=30, layers=6, sites=8
    ),
    "geographic-layered-60x200-cost": Recipe(
        "layered", "geographic", 200, COST_AND_TIME, operators=60, layers=8, sites=12, choices=VARIED
    ),
    "geographic-layered-150x400-equal": Recipe(
        "layered", "geographic", 400, OBJECTIVES["equal"], operators=150, layers=15, sites=20
    ),
    "varied-layered-10x25-limits": Recipe(
        "layered", "two-level", 25, COST_AND_TIME, operators=10, layers=3, choices=VARIED
    ),
}
LIMITS: Mapping[str, tuple[CoLocationLimit, ...]] = {
    # two replicas apart, and at most two of the operators that are not pinned on one node
    "varied-layered-10x25-limits": (
        CoLocationLimit(("operator-2", "operator-3")),
        CoLocationLimit(tuple(f"operator-{k}" for k in range(2, 10)), most=2),
    ),
}
"""On co-location, of the instances that have any."""


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("make", help="write the instance files")
    commands.add_parser("check", help="evaluate every stored placement")
    improving = commands.add_parser("improve", help="search for better placements and bounds")
    improving.add_argument("--limit", type=float, default=LIMIT_S, help="seconds per strategy and instance")
    improving.add_argument("--strategies", nargs="+", choices=list(STRATEGIES), default=list(anywhere()))
    improving.add_argument("--instances", nargs="+", choices=instances(), default=instances())
    arguments = parser.parse_args()
    if arguments.command == "make":
        for name in RECIPES:
            (FOLDER / f"{name}.json").write_text(recipe_text(name), encoding="utf-8")
    elif arguments.command == "improve":
        _improve(arguments.instances, arguments.strategies, arguments.limit)
    if arguments.command != "make":
        _check()


def recipe_text(name: str) -> str:
    """Return the instance file of a recipe."""
    made = build(RECIPES[name])
    limited = Problem(made.application, made.network, made.objective, constraints=LIMITS.get(name, ()))
    return instance_text(to_document(limited))


def instances() -> list[str]:
    """Return the names of all instance files."""
    return sorted(file.stem for file in FOLDER.glob("*.json") if file != BEST_KNOWN)


def load_instance(name: str) -> Problem:
    """Return the problem of an instance file."""
    return parse_instance(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def best_known() -> dict[str, dict[str, Any]]:
    """Return what is stored, by name of instance."""
    if not BEST_KNOWN.exists():
        return {}
    stored: dict[str, dict[str, Any]] = json.loads(BEST_KNOWN.read_text(encoding="utf-8"))
    return stored


def faults(name: str, entry: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a stored entry; nothing if its placement is worth what it says."""
    problem = load_instance(name)
    index, stored = problem.network.index, entry["placement"]
    nodes = [index.get(stored.get(each.name), UNPLACED) for each in problem.application.operators]
    if UNPLACED in nodes:
        return [f"{name}: the stored placement leaves operators out or names unknown nodes"]
    at = ints(nodes)
    found = [f"{name}: {each.message}" for each in check(problem, at)]
    worth = _worth(problem, at)
    for metric, value in worth.items():
        if abs(entry[metric] - value) > RELATIVE_TOLERANCE * max(1.0, abs(value)):
            found.append(f"{name}: {metric} is {value!r}, not {entry[metric]!r} as stored")
    bound = entry["bound"]
    if bound is not None and worth["objective"] < bound - SOLVER_TOLERANCE:
        found.append(f"{name}: F = {worth['objective']:.9g} is below the stored bound {bound:.9g}")
    if entry["proved"] and (bound is None or worth["objective"] > bound + SOLVER_TOLERANCE):
        found.append(f"{name}: stored as proved, but the bound {bound} does not reach F")
    return found


@dataclass(frozen=True)
class Attempt:
    """Who tried what, and when.

    Attributes:
        instance: Name of the instance.
        by: Strategy and time limit, as the entry names them.
        origin: Date and commit.
    """

    instance: str
    by: str
    origin: Provenance


def better(
    attempt: Attempt, problem: Problem, result: Result, entry: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Return the entry after a result: with its placement or its bound, if that is better.

    Raises:
        ValueError: The result and the entry contradict each other.
    """
    if result.placement is None or result.evaluation is None:
        return entry
    value = result.evaluation.objective
    if entry is not None and entry["bound"] is not None and value < entry["bound"] - SOLVER_TOLERANCE:
        raise ValueError(
            f"{attempt.instance}: {attempt.by} found F = {value:.9g}, below the bound {entry['bound']:.9g} "
            f"proved by {entry['proved_by']}"
        )
    made = entry
    if made is None or value < made["objective"] - OBJECTIVE_STEP:
        made = {
            **_worth(problem, result.placement),
            "bound": made["bound"] if made else None,
            "proved": False,
            "found_by": attempt.by,
            "proved_by": made["proved_by"] if made else None,
            "date": attempt.origin.date,
            "commit": attempt.origin.commit,
            "placement": named_placement(problem, result.placement),
        }
    bound = result.bound
    if bound is not None and (made["bound"] is None or bound > made["bound"] + OBJECTIVE_STEP):
        if bound > made["objective"] + SOLVER_TOLERANCE:
            raise ValueError(
                f"{attempt.instance}: {attempt.by} proved {bound:.9g}, above the known "
                f"F = {made['objective']:.9g}"
            )
        made = {
            **made,
            "bound": bound,
            "proved_by": attempt.by,
            "date": attempt.origin.date,
            "commit": attempt.origin.commit,
        }
    proved = made["bound"] is not None and made["objective"] <= made["bound"] + SOLVER_TOLERANCE
    return {**made, "proved": proved}


def _worth(problem: Problem, placement: IntArray) -> dict[str, float]:
    worth = evaluate(problem, placement)
    return {
        "objective": worth.objective,
        **{METRICS[name].answer: worth.values[name] for name in RANGED},
    }


def _improve(names: list[str], strategies: list[str], limit_s: float) -> None:
    origin = provenance()
    problems = {name: load_instance(name) for name in names}
    with ChildProcesses() as children:
        for name, strategy in announced(list(product(names, strategies)), ": ".join):
            result = solve(problems[name], strategy, 0, limit_s, children)
            known = best_known()
            try:
                attempt = Attempt(name, f"{strategy}, {limit_s:g} s", origin)
                entry = better(attempt, problems[name], result, known.get(name))
            except ValueError as error:
                raise SystemExit(str(error)) from None
            if entry is not None:
                _store({**known, name: entry})


def _store(known: dict[str, dict[str, Any]]) -> None:
    text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
    fresh = BEST_KNOWN.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(BEST_KNOWN)


def _check() -> None:
    known = best_known()
    found = [f"{name}: nothing is stored" for name in instances() if name not in known]
    for name, entry in known.items():
        found += faults(name, entry)
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if found:
        raise SystemExit(1)
    proved = sum(entry["proved"] for entry in known.values())
    sys.stdout.write(f"{len(known)} instances checked, {proved} with a proved optimum\n")


if __name__ == "__main__":
    main()
