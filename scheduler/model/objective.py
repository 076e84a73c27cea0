"""The objective F: a weighted sum of normalised quality metrics (paper 000, eq. 4 and 15)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from scheduler.base.checks import ModelError, number, one_of, shown
from scheduler.model.metrics.catalogue import METRICS
from scheduler.model.metrics.duration_excess import DURATION_EXCESS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray
    from scheduler.model.duration import DurationLimit, DurationModel
    from scheduler.model.metrics.record import Range

_Value = TypeVar("_Value", float, "FloatArray")


@dataclass(frozen=True)
class Objective:
    """Weights of the metrics, and the ranges that normalise them if they are given.

    Attributes:
        weights: w_r, w_a, w_z and those of the further metrics by name, each >= 0, sum 1; a missing one is 0.
        ranges: (min, max) by metric name, in the metric's unit; missing ones are computed
            (`scheduler.model.ranges`).
        cost_model: Whether the `cost` of a node is that of each operator there (``per-operator``), or is paid
            once for the node (``per-node``).
        migration_price: Whose `cost` a move is priced with: of the node that loads the image
            (``destination``), or of the one that is left (``source``, as eq. 13 of paper 001 has it).
        duration_model: What limits on durations look at: what was measured (``measured``, eq. 18), or
            execution times and the queues that rates make (``queue``).
        duration_limit: Whether limits on durations are kept (``hard``), or what exceeds them is the metric
            `duration_excess` (``soft``). None is soft where that metric has a weight, and never stays None.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: {"response_time": 1.0})
    ranges: Mapping[str, Range] = field(default_factory=dict)
    cost_model: Literal["per-operator", "per-node"] = "per-operator"
    migration_price: Literal["destination", "source"] = "destination"
    duration_model: DurationModel = "measured"
    duration_limit: DurationLimit | None = None

    def __post_init__(self) -> None:
        _known("weights", self.weights)
        _known("range", self.ranges)
        weights = {each: number(f"weights.{each}", self.weights.get(each, 0.0), most=1.0) for each in METRICS}
        total = math.fsum(weights.values())
        if abs(total - 1.0) > 1e-9:
            raise ModelError("weights", f"expected a sum of 1, got {total:g}")
        object.__setattr__(self, "weights", weights)
        ranges = {each: _range(each, self.ranges[each]) for each in METRICS if each in self.ranges}
        object.__setattr__(self, "ranges", ranges)
        one_of("cost_model", self.cost_model, ("per-operator", "per-node"))
        one_of("migration_price", self.migration_price, ("destination", "source"))
        one_of("duration_model", self.duration_model, ("measured", "queue"))
        if self.duration_limit is None:
            object.__setattr__(self, "duration_limit", "soft" if weights[DURATION_EXCESS.name] else "hard")
        one_of("duration_limit", self.duration_limit, ("hard", "soft"))


def _known(where: str, given: Mapping[str, object]) -> None:
    for key in given:
        if key not in METRICS:
            raise ModelError(f"{where}.{key}", f"unknown metric; the metrics are {', '.join(METRICS)}")


def _range(metric: str, given: Range) -> Range:
    where = f"range.{metric}"
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ModelError(where, f"expected [min, max], got {shown(given)}")
    low, high = (METRICS[metric].statement.checked(f"{where}[{k}]", given[k]) for k in (0, 1))
    if low >= high:
        raise ModelError(where, f"expected min < max, got [{low:g}, {high:g}]")
    return low, high


@dataclass(frozen=True)
class Scale:
    """F as a function of raw metrics: each a minimised quantity with its weight, best value and span.

    Attributes:
        terms: By metric name, of what is minimised (-log A for availability): (weight / span, best value). A
            span of zero gives the factor 0: all placements are alike in that metric.
    """

    terms: Mapping[str, tuple[float, float]]

    @staticmethod
    def of(objective: Objective, ranges: Mapping[str, Range]) -> Scale:
        """Return the scale of an objective whose ranges are all known."""
        spans = {name: metric.statement.sums_of(ranges[name]) for name, metric in METRICS.items()}
        return Scale({each: _term(objective.weights[each], spans[each]) for each in METRICS})

    def factor(self, metric: str) -> float:
        """Return how much F grows per unit of a metric."""
        return self.terms[metric][0]

    @property
    def constant(self) -> float:
        """What F would be if every metric were 0."""
        return -math.fsum(factor * best for factor, best in self.terms.values())

    def objective(self, raw: Mapping[str, _Value]) -> _Value:
        """Return F (eq. 15), 0 at the best end of every range; outside the ranges it goes on linearly.

        Args:
            raw: R in ms and the sum of every additive metric, by name.
        """
        value: Any = 0.0
        for metric, (factor, best) in self.terms.items():
            value = value + factor * (raw[metric] - best)
        return cast("_Value", value)


def _term(weight: float, span: Range) -> tuple[float, float]:
    low, high = span
    width = high - low
    # computed bounds of a constant metric may differ by rounding only
    if width <= 1e-12 * max(1.0, abs(low), abs(high)):
        return 0.0, low
    return weight / width, low
