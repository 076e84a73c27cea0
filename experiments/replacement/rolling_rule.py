"""A rule that knows what is announced and how the load goes, and plans over all of the time to come."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from experiments.replacement.rules import STRATEGY, fixed_ranges
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import named_placement
from scheduler.moving.horizon import Horizon
from scheduler.moving.rolling import look_ahead
from scheduler.moving.steps import Step, forecast
from scheduler.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.replacement.scenario import Scenario
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


class RollingRule:
    """Looks ahead over the cycles to come (`scheduler.moving.rolling`), on one scale for all of them.

    Readings are taken as exact.

    Args:
        scenario: What happens; its leaves and joins are announced.
        horizon_s: How far it looks, s; the cycle that begins counts whatever it is.
        least_gain: As of `Horizon`.
        expected: What the load of a cycle is taken for, given its true factor and its number; what is now is
            measured.
    """

    def __init__(
        self,
        scenario: Scenario,
        horizon_s: float,
        least_gain: float = 0.0,
        expected: Callable[[float, int], float] = lambda factor, _cycle: factor,
    ) -> None:
        self._scenario = scenario
        self._cycles = max(1, round(horizon_s / scenario.cycle_s))
        self._horizon = Horizon(scenario.cycle_s, least_gain)
        self._expected = expected
        self._ranges = fixed_ranges(deepcopy(dict(scenario.instance)))
        self._now = 0

    def placement(self, document: dict[str, Any], /) -> Mapping[str, str]:
        """Return what is best now for all that is known to come."""
        now, scenario = self._now, self._scenario
        self._now += 1
        # the document has the nodes that are there now; the plan has to know the others too
        everything = deepcopy(dict(scenario.instance))
        everything["objective"]["range"] = self._ranges
        if "current" in document:
            everything["current"] = document["current"]
        problem = parse_instance(everything)
        last = min(now + self._cycles, scenario.n_cycles)
        outlook = forecast(problem, [self._step(each, now) for each in range(now, last)])
        found = look_ahead(problem, outlook, _best, self._horizon)
        if found is None:
            raise ValueError(f"no placement meets the constraints of cycle {now}")
        return named_placement(problem, found.placement)

    def _step(self, cycle: int, now: int) -> Step:
        scenario = self._scenario
        nodes = scenario.instance["network"]["nodes"]
        there = set(scenario.nodes(cycle))
        factor = scenario.load_factor(cycle)
        return Step(
            scenario.seconds(cycle),
            factor if cycle == now else self._expected(factor, cycle),
            frozenset(node["name"] for u, node in enumerate(nodes) if u not in there),
        )


def _best(problem: Problem) -> IntArray | None:
    return plan(problem, STRATEGY).placement
