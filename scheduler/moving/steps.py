"""Steps of the time to come: what is announced or forecast of each, and the problem as it will be then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import ModelError, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.model.application import Application
    from scheduler.model.metrics.record import Range
    from scheduler.model.network import Network
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Step:
    """A time in which conditions stay as they are.

    Attributes:
        seconds: How long it is, s (> 0).
        rate: Factor (>= 0) of all streams' rates against those of the problem, or one per stream.
        away: Names of nodes that are not there: announced to leave, or to join later.
        cost: By name of a node, its cost in this step, where that is another one.
    """

    seconds: float
    rate: float | tuple[float, ...] = 1.0
    away: frozenset[str] = frozenset()
    cost: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        number("seconds", self.seconds, above=0.0)
        for factor in self.rate if isinstance(self.rate, tuple) else (self.rate,):
            number("rate", factor)

    def alike(self, other: Step) -> bool:
        """Say whether only the length of the steps may differ."""
        return (self.rate, self.away, self.cost) == (other.rate, other.away, other.cost)


@dataclass(frozen=True, eq=False)
class Forecast:
    """The problems of all steps, on one scale of F.

    Attributes:
        problems: The distinct ones, that of the first step first; where operators run now is in none of them.
        of_step: (n_steps,) position of each step's problem.
        seconds: (n_steps,) length of each step, s.
    """

    problems: tuple[Problem, ...]
    of_step: tuple[int, ...]
    seconds: tuple[float, ...]


def forecast(problem: Problem, steps: Sequence[Step]) -> Forecast:
    """Return the problem as it will be in each step.

    Ranges that the objective does not state are those that hold in every step, so that a millisecond or a
    byte weighs the same in all of them, and wherever operators run.

    Args:
        problem: As it is now; its network has all nodes that are there in any step.
        steps: In their order, at least one.

    Raises:
        ModelError: A step names a node or a stream that does not exist; `where` is its place.
    """
    if not steps:
        raise ModelError("steps", "expected at least one step")
    kinds: list[Step] = []
    of_step = []
    for step in steps:
        known = next((k for k, kind in enumerate(kinds) if kind.alike(step)), len(kinds))
        if known == len(kinds):
            kinds.append(step)
        of_step.append(known)
    unplaced = replace(problem, current=None, gone={}, left_price=None)
    found = []
    for kind in kinds:
        try:
            found.append(_at(unplaced, kind))
        except ModelError as error:
            raise error.under(f"steps[{next(k for k, step in enumerate(steps) if step is kind)}]") from None
    ranges = _ranges_of_all(found)
    problems = tuple(replace(each, objective=replace(each.objective, ranges=ranges)) for each in found)
    return Forecast(problems, tuple(of_step), tuple(step.seconds for step in steps))


def _at(problem: Problem, step: Step) -> Problem:
    return replace(
        problem,
        application=_application(problem, step),
        network=_network(problem.network, step),
    )


def _application(problem: Problem, step: Step) -> Application:
    """Return the application with the rates of a step, and no operator on a node that is away."""
    application, nodes = problem.application, problem.network.nodes
    unknown = sorted(step.away - problem.network.index.keys())
    if unknown:
        raise ModelError("away", f"the network has no node {unknown[0]}")
    operators = application.operators
    if step.away:
        there = tuple(node.name for node in nodes if node.name not in step.away)
        operators = tuple(
            replace(
                each,
                allowed=there
                if each.allowed is None
                else tuple(name for name in each.allowed if name not in step.away),
            )
            for each in operators
        )
    factors = step.rate if isinstance(step.rate, tuple) else (step.rate,) * len(application.streams)
    if len(factors) != len(application.streams):
        raise ModelError("rate", f"expected {len(application.streams)} factors, got {len(factors)}")
    streams = tuple(
        replace(stream, rate=stream.rate * factor)
        for stream, factor in zip(application.streams, factors, strict=True)
    )
    return replace(application, operators=operators, streams=streams)


def _network(network: Network, step: Step) -> Network:
    if not step.cost:
        return network
    unknown = sorted(step.cost.keys() - network.index.keys())
    if unknown:
        raise ModelError("cost", f"the network has no node {unknown[0]}")
    nodes = tuple(replace(node, cost=step.cost.get(node.name, node.cost)) for node in network.nodes)
    return replace(network, nodes=nodes)


def _ranges_of_all(problems: Sequence[Problem]) -> dict[str, Range]:
    """Return ranges that hold in all problems; a metric that is alike everywhere has none."""
    ranges = {}
    for metric in problems[0].ranges:
        ends = np.array([each.ranges[metric] for each in problems])
        low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
        if low < high:
            ranges[metric] = (low, high)
    return ranges
