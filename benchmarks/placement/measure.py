"""One cell: a variant on a problem."""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.placement.rows import FAILED, Row
from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.plan import StrategyError, plan
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from benchmarks.placement.grid import ProblemKey, Variant
    from experiments.machine import Provenance
    from scheduler.contract.children import Children
    from scheduler.contract.result import Result
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
    heard = _Listener(optimum if variant.ends_at_optimum else None)
    results: list[Result] = []
    times: list[float] = []
    reason = ""
    while not times or (limit_s is None and times[0] < REPEATED_BELOW_S and len(times) < REPEATS):
        heard.begin()
        try:
            results.append(run(problem, variant.strategy, key.seed, limit_s, children, heard=heard))
        except StrategyError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001  # one fault must not end a grid of many hours
            reason = f"{type(error).__name__}: {error}"
        times.append(heard.elapsed())
        if reason:
            break
    result = results[0] if results else None
    worth = result.evaluation if result is not None else None
    return Row(
        application=key.application,
        objective=key.objective,
        nodes=key.nodes,
        operators=problem.n_ops,
        seed=key.seed,
        variant=variant.label,
        strategy=variant.strategy,
        limit_s=limit_s,
        status=result.status if result is not None else FAILED,
        objective_value=worth.objective if worth is not None else None,
        bound=result.bound if result is not None else None,
        response_time_ms=worth.response_time_ms if worth is not None else None,
        availability=worth.values["availability"] if worth is not None else None,
        network_usage_bytes=worth.values["network_usage"] if worth is not None else None,
        seconds=statistics.median(times),
        best_at_s=heard.best_at_s,
        repeats=len(times),
        reason=result.reason if result is not None else reason,
        machine=origin.machine,
        date=origin.date,
        commit=origin.commit,
    )


def run(
    problem: Problem,
    strategy: str,
    seed: int,
    limit_s: float | None,
    children: Children,
    *,
    heard: _Listener | None = None,
) -> Result:
    """Plan with a deadline so many seconds from now; a strategy that can use up the time does.

    Raises:
        StrategyError: The strategy broke its contract.
    """
    entry = STRATEGIES[strategy]
    listener = heard if heard is not None else _Listener()
    parameters = entry.parameters()
    deadline = Deadline.none()
    if limit_s is not None:
        deadline = Deadline(listener.clock, time.monotonic() + limit_s)
        parameters = entry.until_deadline(parameters)
    return plan(problem, strategy, parameters, seed, deadline, children=children, report=listener)


class _Listener:
    """Notes when the best placement so far was found, and whether the optimum is met."""

    def __init__(self, optimum: float | None = None) -> None:
        self.best_at_s: float | None = None
        self._optimum = -math.inf if optimum is None else optimum
        self._best = float("inf")
        self._began = 0.0
        self.begin()

    def begin(self) -> None:
        """Start the clock anew."""
        self.best_at_s, self._best, self._began = None, float("inf"), time.monotonic()

    def clock(self) -> float:
        """Return the present moment, or the end of all time once the optimum is met."""
        return math.inf if self._best <= self._optimum + OBJECTIVE_STEP else time.monotonic()

    def elapsed(self) -> float:
        """Return seconds since the clock was started."""
        return time.monotonic() - self._began

    def __call__(self, progress: Progress, /) -> None:
        if progress.objective < self._best:
            self._best, self.best_at_s = progress.objective, self.elapsed()
