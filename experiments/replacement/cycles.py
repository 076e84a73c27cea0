"""Places a topology anew in every cycle of a scenario, and adds up what that costs and brings."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.replacement.rules import PaperRule
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.document import parse_instance
from scheduler.moving.prices import moves_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.replacement.rules import Rule
    from experiments.replacement.scenario import Scenario
    from scheduler.model.problem import Problem
    from scheduler.moving.prices import Move


@dataclass(frozen=True)
class Cycle:
    """What one cycle decided, and what its placement is truly worth.

    Attributes:
        at_s: When, in seconds from the start.
        seconds: How long the placement is in force.
        placement: Node by operator.
        values: True value by metric, each in its unit.
        moves: Operators that came to another node.
    """

    at_s: float
    seconds: float
    placement: Mapping[str, str]
    values: Mapping[str, float]
    moves: tuple[Move, ...]

    @property
    def paid(self) -> float:
        """Price of the moves, in cost units."""
        return math.fsum(move.cost for move in self.moves)


@dataclass(frozen=True)
class Run:
    """All cycles of one run.

    Attributes:
        cycles: In their order.
        planner: What the planner cost in all, in cost units.
    """

    cycles: Sequence[Cycle]
    planner: float

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return math.fsum(each.seconds for each in self.cycles)

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over time."""
        return math.fsum(each.values[metric] * each.seconds for each in self.cycles) / self.seconds

    @property
    def paid(self) -> float:
        """Price of all moves, in cost units."""
        return math.fsum(each.paid for each in self.cycles)

    @property
    def cost_per_s(self) -> float:
        """What the run cost per second: nodes, planner and moves."""
        return self.mean("cost") + (self.planner + self.paid) / self.seconds

    @property
    def moved(self) -> int:
        """How many operators came to another node, over all cycles."""
        return sum(len(each.moves) for each in self.cycles)

    @property
    def cycles_with_moves(self) -> int:
        """In how many cycles something moved."""
        return sum(bool(each.moves) for each in self.cycles)


def run_cycles(
    scenario: Scenario,
    rule: Rule | None = None,
    *,
    frozen: bool = False,
    start: Mapping[str, str] | None = None,
    read: Callable[[dict[str, Any], int], None] = lambda _document, _cycle: None,
) -> Run:
    """Plan in every cycle.

    Args:
        scenario: What happens.
        rule: Plans, and decides whether the plan is carried out; None: as the paper, with the price of the
            node that loads.
        frozen: Whether only the first cycle plans (Static of the paper).
        start: Node by operator before the first cycle; None: nothing runs.
        read: Changes the document that the rule sees in a cycle, whose number is the second argument, to
            what was read; the values of the run are the true ones.
    """
    decide = PaperRule("destination") if rule is None else rule
    cycles: list[Cycle] = []
    current = start
    for number in range(scenario.n_cycles):
        seen = document_of(scenario, number, current)
        truth = parse_instance(seen)
        if not frozen or number == 0:
            read(seen, number)
            current = decide.placement(seen)
        assert current is not None  # noqa: S101  # the first cycle has planned
        cycles.append(_cycle(scenario, number, truth, current))
    planned_s = scenario.cycle_s if frozen else math.fsum(each.seconds for each in cycles)
    return Run(cycles, scenario.planner_cost_per_s * planned_s)


def document_of(scenario: Scenario, cycle: int, current: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the instance of a cycle: the nodes that are there, and what has changed by then."""
    document = scenario.changed(deepcopy(dict(scenario.instance)), cycle)
    there = scenario.nodes(cycle)
    network = document["network"]
    network["nodes"] = [network["nodes"][u] for u in there]
    for matrix in ("delay_ms", "link_availability"):
        network[matrix] = np.array(network[matrix])[np.ix_(there, there)].tolist()
    if current is not None:
        document["current"] = dict(current)
        names = {node["name"] for node in network["nodes"]}
        document["gone"] = sorted(set(current.values()) - names)
    return document


def _cycle(scenario: Scenario, number: int, truth: Problem, placement: Mapping[str, str]) -> Cycle:
    nodes = truth.network.index
    places = np.array([nodes[placement[each.name]] for each in truth.application.operators])
    return Cycle(
        at_s=scenario.start_s(number),
        seconds=scenario.seconds(number),
        placement=placement,
        values=evaluate(truth, places).values,
        moves=moves_of(truth, places),
    )
