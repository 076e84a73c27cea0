"""What a metric is: its names, how it is stated, and what operators and streams add to it if it is a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import LARGEST, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray
    from scheduler.model.link_table import LinkTable
    from scheduler.model.problem import Problem

Range = tuple[float, float]
"""Smallest and largest stated value of a metric."""


@dataclass(frozen=True)
class Statement:
    """How a sum, of which less is better, is stated to users.

    Attributes:
        of: The stated value of a sum.
        sum_of: The sum behind a stated value.
        higher_is_better: Whether stated values fall as the sum grows.
        above: What a given range has to exceed; None permits 0.
        most: What a given range may not exceed.
        largest: Ranges state larger sums as this one.
    """

    of: Callable[[float], float]
    sum_of: Callable[[float], float]
    higher_is_better: bool = False
    above: float | None = None
    most: float = LARGEST
    largest: float = math.inf

    def checked(self, where: str, value: object) -> float:
        """Return an end of a given range.

        Raises:
            ModelError: It is out of bounds.
        """
        return number(where, value, above=self.above, most=self.most)

    def range_of(self, best: float, worst: float) -> Range:
        """Return the range of stated values between two sums, best <= worst."""
        ends = self.of(min(best, self.largest)), self.of(min(worst, self.largest))
        return (ends[1], ends[0]) if self.higher_is_better else ends

    def sums_of(self, stated: Range) -> Range:
        """Return the best and the worst sum of a range of stated values."""
        low, high = self.sum_of(stated[0]), self.sum_of(stated[1])
        return (high, low) if self.higher_is_better else (low, high)


AS_IT_IS = Statement(of=float, sum_of=float)
AS_PROBABILITY = Statement(
    of=lambda total: math.exp(-total),
    sum_of=lambda probability: -math.log(probability),
    higher_is_better=True,
    above=0.0,
    most=1.0,
    largest=700.0,  # exp() of anything lower than its negative is no normal float
)
"""The sum is that of -log p of independent events that all have to happen."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What every metric has.

    Attributes:
        name: Key of its weight and its range.
        answer: Key of its value in answers.
        unit: Of its stated values; empty if it has none or a unit of the user's choice.
        statement: How it is stated.
        default_range: Range unless one is given; placements may leave it, so that F counts in the metric's
            unit. None: bounds of all placements.
        proof: How late its optimum and anti-optimum are proved as a rule, 0 being first
            (`scheduler.optimal_ranges`).
    """

    name: str
    answer: str
    unit: str = ""
    statement: Statement = AS_IT_IS
    default_range: Range | None = None
    proof: int = 0


@dataclass(frozen=True, eq=False)
class LinkTerm:
    """What streams add to a metric by the link that they use.

    Attributes:
        table: Value of each link.
        weight: (n_streams,) factor >= 0 of each stream; None means 1 each.
    """

    table: LinkTable
    weight: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class AdditiveMetric(Metric):
    """A sum over operators of the value of their place, over streams of weight times value of their link, and
    over the nodes in use of a charge that is paid once, however many operators are there.

    Attributes:
        places: Returns values of places: (n_nodes,) alike for all operators, (n_ops, n_nodes), or None. It
            may look at the application, the network, the current placement and the allowed nodes.
        links: Returns the link terms; likewise.
        bounds: Returns the least and the largest sum, where these must not follow from the terms: what is
            planned from a plan has to be measured as the plan was. None: they follow from the terms.
        set_up: Returns (n_nodes,) charges >= 0 of nodes in use, or None; likewise.
        shared_place_once: Whether greedy's two reference operators count a node that they share once
            (paper 000, section 4.3, has it so for availability), not twice.
    """

    places: Callable[[Problem], FloatArray | None] = lambda _problem: None
    bounds: Callable[[Problem], Range] | None = None
    links: Callable[[Problem], tuple[LinkTerm, ...]] = lambda _problem: ()
    set_up: Callable[[Problem], FloatArray | None] = lambda _problem: None
    shared_place_once: bool = False
