"""The rolling horizon on random forecasts: second plans, its pool beside all placements, one step ahead.

    python -m benchmarks.rolling_horizon [--problems N]

A random topology (chain, tree, DAG of four operators on four nodes) runs somewhere. Three to eight steps
follow, of one to twelve periods each, in which rates change, a node is away, or nodes have another price. The
first step of the plan is carried out and planned on again with the same steps. Exact is dynamic programming
over all placements.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, get_args

import numpy as np

from benchmarks.announced import announced
from experiments.machine import provenance
from scheduler.instances.generators.replacement import Shape, replacement, running
from scheduler.moving.horizon import Horizon
from scheduler.moving.rolling import look_ahead
from scheduler.moving.step_worth import StepWorth
from scheduler.moving.steps import Step, forecast
from scheduler.moving.weighed_pool import WeighedPool
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

PERIOD_S = 240.0
SHAPES: tuple[Shape, ...] = get_args(Shape)
_SIZE = 4


@dataclass(frozen=True)
class Measured:
    """What came of one problem.

    Attributes:
        first: Whether the first plan moved something.
        second: Whether the next one did.
        above_exact: By what part its total is above that of the best way through all placements.
        one_step: The same of planning each step on its own; infinite if that leads where no step goes on.
    """

    first: bool
    second: bool
    above_exact: float
    one_step: float


def main() -> None:
    """Measure, and write a table to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=900, help="random problems")
    arguments = parser.parse_args()
    print(provenance().line())
    print("\n| shape | problems | first plan moves | second | worst above exact | mean | one step, mean |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for number, shape in enumerate(announced(SHAPES, str)):
        seeds = range(number, arguments.problems, len(SHAPES))
        found = [each for seed in seeds if (each := measured(shape, seed)) is not None]
        finite = [each.one_step for each in found if math.isfinite(each.one_step)]
        above = [each.above_exact for each in found]
        print(
            f"| {shape} | {len(found)} | {sum(each.first for each in found)} | "
            f"{sum(each.second for each in found)} | {max(above):.2%} | {statistics.fmean(above):.2%} | "
            f"{statistics.fmean(finite):.2%} |"
        )


def measured(shape: Shape, seed: int) -> Measured | None:
    """Plan a random problem twice; None if nothing meets the constraints of its first step."""
    random = np.random.default_rng(seed)
    problem = replacement(shape, _SIZE, _SIZE, random)
    current = random.integers(0, _SIZE, _SIZE)
    steps = [_step(random) for _ in range(int(random.integers(3, 9)))]
    found = look_ahead(running(problem, current), forecast(problem, steps), _best, Horizon(PERIOD_S))
    if found is None:
        return None
    again = look_ahead(running(problem, found.placement), forecast(problem, steps), _best, Horizon(PERIOD_S))
    exact = _exact(running(problem, current), steps)
    return Measured(
        first=bool((found.placement != current).any()),
        second=again is None or bool((again.placement != found.placement).any()),
        above_exact=found.total / exact - 1.0,
        one_step=found.one_step_ahead / exact - 1.0,
    )


def _step(random: np.random.Generator) -> Step:
    away = frozenset({f"n{int(random.integers(_SIZE)) + 1}"}) if random.random() < 0.3 else frozenset()
    prices = {f"n{u + 1}": float(random.uniform(1.0, 30.0)) for u in range(_SIZE)}
    return Step(
        seconds=PERIOD_S * int(random.integers(1, 13)),
        rate=float(random.choice([0.5, 1.0, 2.0])),
        away=away,
        cost=prices if random.random() < 0.5 else {},
    )


def _best(problem: Problem) -> IntArray | None:
    return plan(problem, "odr").placement


def _exact(problem: Problem, steps: list[Step]) -> float:
    """Return the least total over all placements in all steps."""
    outlook = forecast(problem, steps)
    now = replace(outlook.problems[0], current=problem.current)
    worth = StepWorth(outlook, now, Horizon(PERIOD_S))
    every = np.array(list(product(range(_SIZE), repeat=_SIZE))).T
    assert problem.current is not None  # noqa: S101  # it runs
    weighed = WeighedPool(worth, problem.current, every)
    return weighed.total(weighed.best())


if __name__ == "__main__":
    main()
