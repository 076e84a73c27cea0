"""One cell: a variant on a problem."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.sweep.one_run import COLUMNS, FAILED, figures, solve
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.plan import StrategyError

if TYPE_CHECKING:
    from benchmarks.placement.grid import ProblemKey, Variant
    from benchmarks.placement.rows import Row
    from experiments.machine import Provenance
    from scheduler.contract.children import Children
    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem

REPEATED_BELOW_S = 0.2
REPEATS = 5


def measure(
    key: ProblemKey,
    problem: Problem,
    variant: Variant,
    children: Children,
    origin: Provenance,
    *,
    optimum: float | None = None,
) -> Row:
    """Run a variant on a problem with a fresh deadline.

    A run without a time limit that takes less than 0.2 s is repeated: short times are noisy. A strategy that
    breaks down gives a failed row.

    Args:
        key: Names the problem.
        problem: The problem.
        variant: Strategy and limit.
        children: Runs solvers.
        origin: Where and when.
        optimum: F of the optimum if it is proved; a strategy that would use up its time without knowing that
            it cannot get better is ended when it gets there, and its seconds are those to the optimum.
    """
    limit_s = variant.limit_for(key)
    best = _Best(optimum if variant.ends_at_optimum else None)
    found: dict[str, str | float | None] = dict.fromkeys(("objective", *COLUMNS, "bound"))
    times: list[float] = []
    while not times or (limit_s is None and times[0] < REPEATED_BELOW_S and len(times) < REPEATS):
        best.begin()
        fault = ""
        try:
            found = figures(
                solve(problem, variant.strategy, key.seed, limit_s, children, clock=best.clock, report=best)
            )
        except StrategyError as error:
            fault = str(error)
        except Exception as error:  # noqa: BLE001  # one fault must not end a grid of many hours
            fault = f"{type(error).__name__}: {error}"
        times.append(best.elapsed())
        if fault:
            found |= {"status": FAILED, "reason": fault}
            break
    return {
        **asdict(key),
        "operators": problem.n_ops,
        "variant": variant.label,
        "strategy": variant.strategy,
        "limit_s": limit_s,
        # a row's objective is what is weighted
        "objective_value": found.pop("objective"),
        **found,
        "seconds": statistics.median(times),
        "best_at_s": best.at_s,
        "repeats": len(times),
        **asdict(origin),
    }


class _Best:
    """Notes when the best placement so far was found; its clock runs out when that is the optimum."""

    def __init__(self, optimum: float | None) -> None:
        self.at_s: float | None = None
        self._optimum = -math.inf if optimum is None else optimum
        self._value = math.inf
        self._began = 0.0

    def begin(self) -> None:
        """Start the clock anew."""
        self.at_s, self._value, self._began = None, math.inf, time.monotonic()

    def clock(self) -> float:
        """Return the present moment, or the end of all time once the optimum is met."""
        return math.inf if self._value <= self._optimum + OBJECTIVE_STEP else time.monotonic()

    def elapsed(self) -> float:
        """Return seconds since the clock was started."""
        return time.monotonic() - self._began

    def __call__(self, progress: Progress, /) -> None:
        if progress.objective < self._value:
            self._value, self.at_s = progress.objective, self.elapsed()
