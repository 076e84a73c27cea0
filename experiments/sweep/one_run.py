"""One run of the decision core, as sweeps and benchmarks take it: a plan, and its worth as figures."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from bridge.children.time_limit import TimeLimit
from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import ignore
from scheduler.model.metrics.catalogue import METRICS
from scheduler.plan import plan
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.contract.children import Children
    from scheduler.contract.result import Result
    from scheduler.contract.strategy import Report
    from scheduler.model.problem import Problem

FAILED = "failed"
"""Status of a run that broke down."""
COLUMNS = {METRICS[name].answer: name for name in ("response_time", "availability", "network_usage")}
"""R, A and Z: their keys among the figures, and their names as metrics."""


def solve(
    problem: Problem,
    strategy: str,
    seed: int,
    time_limit_s: float | None,
    children: Children,
    *,
    until_deadline: bool = True,
    clock: Callable[[], float] = time.monotonic,
    report: Report = ignore,
) -> Result:
    """Plan as the command `solve` does.

    Args:
        problem: What to place.
        strategy: A name of the registry.
        seed: Of its random choices.
        time_limit_s: Seconds that a strategy which can use them up does; None: it ends by itself.
        children: Runs solvers; with a time limit they are killed when it is over.
        until_deadline: Whether it does use them up; else it may end before, by its own limits of work.
        clock: Seconds; what it counts is the time limit's.
        report: Gets each better placement.

    Raises:
        scheduler.plan.StrategyError: The strategy broke its contract.
    """
    entry = STRATEGIES[strategy]
    parameters = entry.parameters()
    if until_deadline and (time_limit_s is not None or entry.ends_with_proof):
        parameters = entry.until_deadline(parameters)
    if time_limit_s is None:
        return plan(problem, strategy, parameters, seed, children=children, report=report)
    limit = TimeLimit(Deadline(clock, time.monotonic() + time_limit_s), children)
    return plan(problem, strategy, parameters, seed, limit.deadline, children=limit.children, report=report)


def figures(result: Result) -> dict[str, str | float | None]:
    """Return status, F, R, A, Z, bound and reason; numbers are None where there are none."""
    worth = result.evaluation
    values: dict[str, str | float | None] = dict.fromkeys(("objective", *COLUMNS))
    if worth is not None:
        values["objective"] = _finite(worth.objective)
        values |= {key: _finite(worth.values[name]) for key, name in COLUMNS.items()}
    return {"status": result.status, **values, "bound": _finite(result.bound), "reason": result.reason}


def _finite(value: float | None) -> float | None:
    """Return a number that Parquet and JSON readers take alike: no infinity where nothing is known."""
    return None if value is None or not math.isfinite(value) else float(value)
