"""Ranges of the metrics as paper 000 has them: optimum and anti-optimum of each (section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from scheduler.contract.strategy import Context, Suggestion
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.exact.extremes.longest_paths import TurnedProblem, solve_longest_response
from scheduler.exact.solve import TOO_LARGE, solve_exact
from scheduler.model.metrics.catalogue import METRICS, RANGED
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.model.problem import Problem
from scheduler.reduce.reduction import is_large
from scheduler.search.searched_start import first_placement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.model.metrics.record import Range

End = Literal["best", "worst"]

ORDER = tuple(sorted(RANGED, key=lambda name: METRICS[name].proof))
"""Metrics by how soon their ends are proved as a rule: what one leaves of its time goes to the next."""
ENDS: tuple[End, ...] = ("worst", "best")
"""Likewise: far more room for bad placements than for good ones makes the worst easy to prove."""


class NoPlacementError(ValueError):
    """No placement of the problem exists; the message says why."""


@dataclass(frozen=True)
class MetricRange:
    """Smallest and largest value of a metric over all feasible placements, in its unit.

    Attributes:
        low: No placement is below.
        high: No placement is above.
        low_proved: Whether a placement has the value `low`; otherwise it is a bound.
        high_proved: Likewise.
    """

    low: float
    high: float
    low_proved: bool
    high_proved: bool

    @property
    def range(self) -> Range | None:
        """(low, high) to be given to an `Objective`, or None if all placements are alike."""
        return (self.low, self.high) if self.low < self.high else None


def optimal_ranges(
    problem: Problem, context: Context, announce: Callable[[str, End], None] = lambda _metric, _end: None
) -> dict[str, MetricRange]:
    """Return optimum and anti-optimum of every metric, each by an exact solution for that metric alone.

    Every end gets an equal share of the time that is left when its turn comes. One that is not proved by
    then is the best bound known, as are all ends of a problem that strategies do not take as a whole
    (`scheduler.reduce.reduction.is_large`). A metric whose values differ by less than the exact solver sees
    (1e-9 of the computed bounds' width) is constant: low equals high. Availability ends at e^-700.

    Args:
        problem: Its weights and given ranges are not looked at.
        context: Deadline, children for the solver, and what takes progress, in terms of F from 0 to 1 over
            the bounds that `scheduler.model.ranges` computes: 0 is the end that is looked for.
        announce: Called before each end is looked for.

    Returns:
        By metric name, in the order of `RANGED`.

    Raises:
        NoPlacementError: It is proved that no placement exists.
    """
    plain = _plain(problem)
    ends = open_ends(plain)
    if not ends:
        _solved(plain, context)  # which refuses a problem without placements
    found: dict[tuple[str, End], tuple[float, bool]] = {}
    for k, (metric, end) in enumerate(ends):
        announce(metric, end)
        share = context.deadline.remaining() / (len(ends) - k)
        part = replace(context, deadline=context.deadline.within(share))
        found[metric, end] = _end(problem, metric, end, part)
    return {metric: _metric_range(metric, plain.ranges[metric], found) for metric in RANGED}


def open_ends(problem: Problem) -> list[tuple[str, End]]:
    """Return the ends that have to be looked for, in this order: those of metrics whose bounds differ."""
    plain = _plain(problem)
    return [
        (metric, end)
        for end in ENDS
        for metric in ORDER
        if not _constant(metric, plain.ranges[metric], plain.ranges[metric])
    ]


def _plain(problem: Problem) -> Problem:
    """Return the problem without weights and ranges of its own."""
    return replace(
        problem, objective=replace(problem.objective, weights={RESPONSE_TIME.name: 1.0}, ranges={})
    )


def _end(problem: Problem, metric: str, end: End, context: Context) -> tuple[float, bool]:
    """Return the best or worst value of a metric, and whether it is proved."""
    kind = Problem if end == "best" else TurnedProblem
    alone = kind(
        problem.application,
        problem.network,
        replace(problem.objective, weights={metric: 1.0}, ranges={}),
        problem.current,
        problem.constraints,
        problem.gone,
        problem.left_price,
    )
    low, high = alone.ranges[metric]
    exact = _solved(alone, context)
    if exact.proved and exact.placement is not None:
        value = evaluate(alone, exact.placement).values[metric]
    elif exact.bound is not None:
        factor, best = alone.scale.terms[metric]
        total = best + exact.bound / factor
        value, _ = METRICS[metric].statement.range_of(total, total)
    else:
        value = high if (end == "best") == METRICS[metric].statement.higher_is_better else low
    return min(max(value, low), high), exact.proved


def _solved(alone: Problem, context: Context) -> Suggestion:
    """Return what is known about the optimum of a problem with one metric.

    Raises:
        NoPlacementError: It is proved that there is none.
    """
    if alone.infeasibility is not None:
        raise NoPlacementError(alone.infeasibility)
    if is_large(alone):
        return Suggestion(None, TOO_LARGE)
    first = first_placement(alone, context)
    start = first.placement
    if start is not None and evaluate(alone, start).objective <= OBJECTIVE_STEP:
        return Suggestion(start, "a bound of all placements is reached", 0.0, proved=True)
    if isinstance(alone, TurnedProblem) and alone.scale.factor(RESPONSE_TIME.name):
        exact = solve_longest_response(alone, start, context)
    else:
        exact = solve_exact(alone, first, context)
    if exact.placement is None and exact.proved:
        raise NoPlacementError(exact.reason)
    return exact


def _metric_range(
    metric: str, bounds: Range, found: Mapping[tuple[str, End], tuple[float, bool]]
) -> MetricRange:
    if (metric, "best") not in found:
        return MetricRange(bounds[0], bounds[0], low_proved=True, high_proved=True)
    ends = (found[metric, "best"], found[metric, "worst"])
    falling = METRICS[metric].statement.higher_is_better
    (low, low_proved), (high, high_proved) = ends[::-1] if falling else ends
    if _constant(metric, (low, high), bounds):
        return MetricRange(low, low, low_proved, high_proved)
    return MetricRange(low, high, low_proved, high_proved)


def _constant(metric: str, ends: Range, bounds: Range) -> bool:
    """Return whether values are too close to differ: by rounding, or within the width of bounds."""
    statement = METRICS[metric].statement
    (low, high), (least, most) = statement.sums_of(ends), statement.sums_of(bounds)
    return high - low <= max(1e-12 * max(1.0, abs(low), abs(high)), OBJECTIVE_STEP * (most - least))
