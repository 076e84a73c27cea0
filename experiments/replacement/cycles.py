"""Places a topology anew in every cycle of a scenario, and adds up what that costs and brings."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.move_prices import moves_of
from scheduler.instances.document import named_placement, parse_instance
from scheduler.optimal_ranges import optimal_ranges
from scheduler.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.replacement.scenario import Scenario
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Cycle:
    """What one cycle decided, and what its placement is truly worth.

    Attributes:
        at_s: When, in seconds from the start.
        seconds: How long the placement is in force.
        placement: Node by operator.
        values: True value by metric, each in its unit.
        moved: Operators that came to another node.
        paid: Price of these moves, in cost units.
    """

    at_s: float
    seconds: float
    placement: Mapping[str, str]
    values: Mapping[str, float]
    moved: int
    paid: float


@dataclass(frozen=True)
class Run:
    """All cycles of one run.

    Attributes:
        cycles: In their order.
        planner: What the planner cost in all, in cost units.
    """

    cycles: Sequence[Cycle]
    planner: float

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over time."""
        seconds = math.fsum(each.seconds for each in self.cycles)
        return math.fsum(each.values[metric] * each.seconds for each in self.cycles) / seconds

    @property
    def cost_per_s(self) -> float:
        """What the run cost per second: nodes, planner and moves."""
        seconds = math.fsum(each.seconds for each in self.cycles)
        moves = math.fsum(each.paid for each in self.cycles)
        return self.mean("cost") + (self.planner + moves) / seconds

    @property
    def cycles_with_moves(self) -> int:
        """In how many cycles something moved."""
        return sum(each.moved > 0 for each in self.cycles)


def run_cycles(
    scenario: Scenario,
    *,
    frozen: bool = False,
    read: Callable[[dict[str, Any], int], None] = lambda _document, _cycle: None,
) -> Run:
    """Plan in every cycle with `odr` on the exact ranges of that cycle.

    Args:
        scenario: What happens.
        frozen: Whether only the first cycle plans (Static of the paper).
        read: Changes the document that the planner sees in a cycle, whose number is the second argument, to
            what was read; the values of the run are the true ones.
    """
    cycles: list[Cycle] = []
    current: Mapping[str, str] | None = None
    for number in range(scenario.n_cycles):
        seen = _document(scenario, number, current)
        truth = parse_instance(seen)
        if current is None or not frozen:
            read(seen, number)
            current = _planned(seen)
        cycles.append(_cycle(scenario, number, truth, current))
    planned_s = scenario.cycle_s if frozen else math.fsum(each.seconds for each in cycles)
    return Run(cycles, scenario.planner_cost_per_s * planned_s)


def _document(scenario: Scenario, cycle: int, current: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the instance with the nodes of a cycle."""
    document = deepcopy(dict(scenario.instance))
    there = scenario.nodes(cycle)
    network = document["network"]
    network["nodes"] = [network["nodes"][u] for u in there]
    for matrix in ("delay_ms", "link_availability"):
        network[matrix] = np.array(network[matrix])[np.ix_(there, there)].tolist()
    if current is not None:
        document["current"] = dict(current)
    return document


def _planned(document: dict[str, Any]) -> Mapping[str, str]:
    context = Context(np.random.default_rng(0), NO_DEADLINE)
    ranges = optimal_ranges(parse_instance(document), context)
    document["objective"]["range"] = {name: list(each.range) for name, each in ranges.items() if each.range}
    problem = parse_instance(document)
    found = plan(problem, "odr").placement
    if found is None:
        raise ValueError("no placement meets the constraints of the scenario")
    return named_placement(problem, found)


def _cycle(scenario: Scenario, number: int, truth: Problem, placement: Mapping[str, str]) -> Cycle:
    nodes = truth.network.index
    places = np.array([nodes[placement[each.name]] for each in truth.application.operators])
    moves = moves_of(truth, places)
    return Cycle(
        at_s=scenario.start_s(number),
        seconds=scenario.seconds(number),
        placement=placement,
        values=evaluate(truth, places).values,
        moved=len(moves),
        paid=math.fsum(move.cost for move in moves),
    )
