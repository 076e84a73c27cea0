"""The objective F: a weighted sum of normalised quality metrics (paper 000, eq. 4 and 15)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from scheduler.base.checks import ModelError, number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray

METRICS = ("response_time", "availability", "network_usage", "inter_node_traffic", "cost")
"""R in ms, A as a fraction, Z in bytes, traffic between nodes in bytes per second, cost in cost units."""

Range = tuple[float, float]
_Value = TypeVar("_Value", float, "FloatArray")


@dataclass(frozen=True)
class Objective:
    """Weights of the metrics, and the ranges that normalise them if they are given.

    Attributes:
        weights: w_r, w_a, w_z and those of the further metrics by name, each >= 0, sum 1; a missing one is 0.
        ranges: (min, max) by metric name, in the metric's unit; missing ones are computed
            (`scheduler.model.ranges`).
    """

    weights: Mapping[str, float] = field(default_factory=lambda: {"response_time": 1.0})
    ranges: Mapping[str, Range] = field(default_factory=dict)

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


def _known(where: str, given: Mapping[str, object]) -> None:
    for key in given:
        if key not in METRICS:
            raise ModelError(f"{where}.{key}", f"unknown metric; the metrics are {', '.join(METRICS)}")


def _range(metric: str, given: Range) -> Range:
    where = f"range.{metric}"
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ModelError(where, f"expected [min, max], got {shown(given)}")
    if metric == "availability":
        low, high = (number(f"{where}[{k}]", given[k], above=0.0, most=1.0) for k in (0, 1))
    else:
        low, high = (number(f"{where}[{k}]", given[k]) for k in (0, 1))
    if low >= high:
        raise ModelError(where, f"expected min < max, got [{low:g}, {high:g}]")
    return low, high


@dataclass(frozen=True)
class Scale:
    """F as a function of raw metrics: each a minimised quantity with its weight, best value and span.

    Attributes:
        terms: By metric name, -log A standing for availability: (weight / span, best value). A span of
            zero gives the factor 0: all placements are alike in that metric.
    """

    terms: Mapping[str, tuple[float, float]]

    @staticmethod
    def of(objective: Objective, ranges: Mapping[str, Range]) -> Scale:
        """Return the scale of an objective whose ranges are all known."""
        low_a, high_a = ranges["availability"]
        spans = {**ranges, "availability": (-math.log(high_a), -math.log(low_a))}
        return Scale({each: _term(objective.weights[each], spans[each]) for each in METRICS})

    def factor(self, metric: str) -> float:
        """Return how much F grows per unit of a metric."""
        return self.terms[metric][0]

    @property
    def constant(self) -> float:
        """What F would be if every metric were 0."""
        return -math.fsum(factor * best for factor, best in self.terms.values())

    def objective(
        self,
        response_ms: _Value,
        unavailability: _Value,
        usage_bytes: _Value,
        traffic_bytes_s: _Value,
        cost: _Value,
    ) -> _Value:
        """Return F (eq. 15), 0 at the best end of every range; outside the ranges it goes on linearly.

        Args:
            response_ms: R.
            unavailability: -log A.
            usage_bytes: Z.
            traffic_bytes_s: Traffic between distinct nodes.
            cost: Cost of nodes and links.
        """
        (by_r, best_r), (by_a, best_a), (by_z, best_z) = (self.terms[each] for each in METRICS[:3])
        (by_t, best_t), (by_c, best_c) = (self.terms[each] for each in METRICS[3:])
        value: _Value = (
            by_r * (response_ms - best_r)
            + by_a * (unavailability - best_a)
            + by_z * (usage_bytes - best_z)
            + by_t * (traffic_bytes_s - best_t)
            + by_c * (cost - best_c)
        )
        return value


def _term(weight: float, span: Range) -> tuple[float, float]:
    low, high = span
    width = high - low
    # computed bounds of a constant metric may differ by rounding only
    if width <= 1e-12 * max(1.0, abs(low), abs(high)):
        return 0.0, low
    return weight / width, low
