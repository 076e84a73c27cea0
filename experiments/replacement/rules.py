"""Rules that decide in each cycle of a scenario where a topology runs: the paper's, and ours."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from experiments.replacement.read_history import ReadHistory
from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import named_placement
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.move_prices import spread_price
from scheduler.moving.rule import MoveRule, judge
from scheduler.plan import plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

STRATEGY = "odr"


class Rule(Protocol):
    """Decides in each cycle of one run; it may remember what it has read."""

    def placement(self, document: dict[str, Any], /) -> Mapping[str, str]:
        """Return the node of each operator.

        Args:
            document: The instance as it was read in this cycle, `current` included.
        """


def exact_ranges(document: dict[str, Any]) -> dict[str, list[float]]:
    """Return the exact range of each weighted metric over the placements of a small instance.

    Metrics in which they do not differ are left out.
    """
    problem = parse_instance(document)
    placements = every_placement(problem)
    placements = placements[:, BatchConstraints(problem).met(placements)]
    ranges = {}
    for name, weight in problem.objective.weights.items():
        if weight > 0:
            alone = replace(problem, objective=replace(problem.objective, weights={name: 1.0}, ranges={}))
            worth, _ = BatchEvaluator(alone)(placements)
            ends = (evaluate(alone, placements[:, k]).values[name] for k in (worth.argmin(), worth.argmax()))
            low, high = sorted(ends)
            if high - low > OBJECTIVE_STEP * max(1.0, high):
                ranges[name] = [low, high]
    return ranges


def every_placement(problem: Problem) -> IntArray:
    """Return (n_ops, n_placements) all placements on allowed nodes, whether there is room or not."""
    return np.array(list(product(*(np.flatnonzero(row) for row in problem.allowed))), dtype=np.int64).T


def fixed_ranges(document: dict[str, Any]) -> dict[str, list[float]]:
    """Return the same but for prices of moves, whose exact range follows the current placement."""
    ranges = exact_ranges(document)
    ranges.pop(MIGRATION.name, None)
    return ranges


class PaperRule:
    """Each cycle's optimum is carried out, on the exact ranges of that cycle (paper 001).

    Args:
        price: Whose node a move is priced with; the paper prints the source's.
    """

    def __init__(self, price: Literal["source", "destination"] = "source") -> None:
        self._price = price

    def placement(self, document: dict[str, Any], /) -> Mapping[str, str]:
        """Return the optimum of what was read."""
        document["objective"]["migration_price"] = self._price
        document["objective"]["range"] = exact_ranges(document)
        problem = parse_instance(document)
        return named_placement(problem, _optimum(problem))


class GivenPlacements:
    """Placements that are chosen already, one per cycle."""

    def __init__(self, placements: Sequence[Mapping[str, str]]) -> None:
        self._placements = iter(placements)

    def placement(self, _document: dict[str, Any], /) -> Mapping[str, str]:
        """Return the next one."""
        return next(self._placements)


class OurRule:
    """The optimum of what was read over some cycles, carried out if it is worth it (`scheduler.moving.rule`).

    What runs first is planned as the paper does. Later the plan is the optimum with nodes alike, and links
    alike, but for what stands out of their noise. It must not lose by plain means of the readings: so a node
    that has just joined is not trusted against what was read of it.

    A plan is there for many cycles, so that the price of its moves weighs as a part of what it costs in all
    of them: by its weight where the horizon is one cycle, by a tenth of it where it is ten.

    Args:
        rule: The least gain and the horizon.
        cycle_s: Time from one plan to the next, s.
        window: Cycles whose readings count.
    """

    def __init__(self, rule: MoveRule, cycle_s: float, window: int = 12) -> None:
        self._rule = rule
        self._spread = 1.0 if rule.horizon_s is None else min(cycle_s / rule.horizon_s, 1.0)
        self._history = ReadHistory(window)

    def placement(self, document: dict[str, Any], /) -> Mapping[str, str]:
        """Return the plan if it is worth its price, else where the operators run."""
        means, likely = self._history.take(document)
        if "current" not in document:
            return PaperRule("destination").placement(means)
        if not self._history.repeated:
            return dict(document["current"])
        objective = document["objective"]
        objective["weights"] = spread_price(objective["weights"], self._spread)
        objective["range"] = fixed_ranges({**likely, "objective": objective})
        by_means, problem = (parse_instance({**each, "objective": objective}) for each in (means, likely))
        found = _optimum(problem)
        no_loss = replace(self._rule, least_gain=0.0)
        if judge(problem, found, self._rule).why_not or judge(by_means, found, no_loss).why_not:
            return dict(document["current"])
        return named_placement(problem, found)


def _optimum(problem: Problem) -> IntArray:
    found = plan(problem, STRATEGY).placement
    if found is None:
        raise ValueError("no placement meets the constraints of the scenario")
    return found
