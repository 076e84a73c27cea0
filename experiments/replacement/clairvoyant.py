"""The best that could have been done: the placements of all cycles at once, knowing all that will happen."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.replacement.rules import every_placement, fixed_ranges
from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import named_placement
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.horizon import best_sequence, prices_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.replacement.scenario import Scenario
    from scheduler.base.arrays import FloatArray


class Hindsight:
    """What every placement truly costs in every cycle, on one scale of F for all cycles.

    Args:
        scenario: What happens; it has few enough placements to look at all.
        start: Node by operator before the first cycle; None: nothing runs, and starting has no price.
    """

    def __init__(self, scenario: Scenario, start: Mapping[str, str] | None = None) -> None:
        ranges = fixed_ranges(deepcopy(dict(scenario.instance)))
        document = deepcopy(dict(scenario.instance))
        document["objective"]["range"] = ranges
        problem = parse_instance(document)
        self._problem = problem
        self._placements = every_placement(problem)
        self._worth = np.array(
            [self._worth_of(scenario, number, ranges) for number in range(scenario.n_cycles)]
        )
        self._prices = problem.scale.factor(MIGRATION.name) * prices_between(problem, self._placements)
        self._start = None if start is None else self._prices[self._place(start)]

    def _worth_of(self, scenario: Scenario, cycle: int, ranges: Mapping[str, list[float]]) -> FloatArray:
        document: dict[str, Any] = scenario.changed(deepcopy(dict(scenario.instance)), cycle)
        document["objective"] = {**document["objective"], "range": ranges}
        problem = parse_instance(document)
        objective, _ = BatchEvaluator(problem)(self._placements)
        possible = BatchConstraints(problem).met(self._placements)
        possible &= np.isin(self._placements, scenario.nodes(cycle)).all(axis=0)
        share = scenario.seconds(cycle) / scenario.cycle_s
        return np.where(possible, share * objective, np.inf)

    def best(self) -> list[dict[str, str]]:
        """Return node by operator for each cycle: no other choice has a smaller `total`."""
        chosen = best_sequence(self._worth, self._prices, self._start)
        return [named_placement(self._problem, self._placements[:, k]) for k in chosen.tolist()]

    def worth(self, cycle: int, placement: Mapping[str, str]) -> float:
        """Return F of a placement in a cycle, without moves; infinite if it cannot be had."""
        return float(self._worth[cycle, self._place(placement)])

    def least(self, cycle: int) -> float:
        """Return the smallest F that any placement has in a cycle."""
        return float(self._worth[cycle].min())

    def total(self, placements: Sequence[Mapping[str, str]]) -> float:
        """Return F summed over cycles, each as a part of a whole one, and the moves at their weight.

        Args:
            placements: Node by operator for each cycle.
        """
        places = [self._place(each) for each in placements]
        staying = sum(float(self._worth[cycle, place]) for cycle, place in enumerate(places))
        first = 0.0 if self._start is None else float(self._start[places[0]])
        return staying + first + float(self._prices[places[:-1], places[1:]].sum())

    def _place(self, placement: Mapping[str, str]) -> int:
        index = self._problem.network.index
        nodes = [index[placement[each.name]] for each in self._problem.application.operators]
        (found,) = np.flatnonzero((self._placements == np.array(nodes)[:, None]).all(axis=0))
        return int(found)
