"""The cheapest changes of executors, had the load been known: dynamic programming over a ladder of numbers.

What is neglected makes the plan no more expensive: backlogs after overload, and, unless it is asked for,
those after pauses. So its cost without them is a lower bound of what any policy pays under the same load, but
for one effect of the simulator's grain: a step in which arrivals exceed what executors serve by less than the
bound lets wait does not count as late there, and does here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.scenario import Scenario
    from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights
    from scheduler.elasticity.operator_manager.path import Ladder, Path


@dataclass(frozen=True)
class Plan:
    """Executors of each period that counts.

    Attributes:
        executors: (n_periods, n_parts) of each component.
        cost: J, mean over the periods, without drains if they were not asked for.
    """

    executors: tuple[tuple[int, ...], ...]
    cost: float


@dataclass(frozen=True, kw_only=True)
class Question:
    """What hindsight is asked.

    Attributes:
        scenario: Whose load, pauses and bound they are; its components make a chain.
        path: Components of the chain, by unit of load.
        weights: Of the three terms of the cost.
        drains: Whether what has piled up in a pause makes later steps late, too.
    """

    scenario: Scenario
    path: Path
    weights: OperatorWeights
    drains: bool = False


def hindsight(question: Question, load: Floats) -> Plan:
    """Return the cheapest plan for the time that counts; with which executors it begins is free.

    Of all numbers of executors with the same total the one that carries most is never worse, so that totals
    are enough: any plan becomes no more expensive if each of its numbers is replaced by these.

    Args:
        question: What is asked.
        load: (steps,) units of load in each step.
    """
    scenario = question.scenario
    ladder = question.path.ladder
    every = max(1, round(scenario.monitor_interval_s / scenario.step_s))
    periods = (scenario.steps - scenario.counted_from) // every
    of_period = load[scenario.steps - periods * every :].reshape(periods, every)
    kept, changed = _late(question, ladder, of_period)
    weights = question.weights
    totals = np.array([sum(each) for each in ladder.executors])
    resources = weights.resources * totals / question.path.executors_max
    staying = resources + weights.performance * kept
    moving = resources + weights.reconfiguration + weights.performance * changed
    worth = staying[0]
    came = np.full((periods, len(totals)), -1)
    for k in range(1, periods):
        best = int(worth.argmin())
        after_move = worth[best] + moving[k]
        after_stay = worth + staying[k]
        came[k] = np.where(after_move < after_stay, best, -1)
        worth = np.minimum(after_move, after_stay)
    rung = int(worth.argmin())
    cost, plan = float(worth[rung]) / periods, [rung]
    for k in range(periods - 1, 0, -1):
        if came[k, rung] >= 0:
            rung = int(came[k, rung])
        plan.append(rung)
    return Plan(tuple(ladder.executors[each] for each in reversed(plan)), cost)


def _late(question: Question, ladder: Ladder, load: Floats) -> tuple[Floats, Floats]:
    """Return what share of each period is late on each rung (n_periods, n_rungs): if it stays, if new.

    Args:
        question: What is asked.
        ladder: With the best numbers of executors.
        load: (n_periods, n_steps) units of load.
    """
    step_s, pause_s = question.scenario.step_s, question.scenario.pause_s
    over = load[:, None, :] > ladder.kept[None, :, None]
    begins_s = np.arange(load.shape[1]) * step_s
    ends_s = np.full((len(load), len(ladder.kept)), pause_s)
    if question.drains:
        spare = ladder.capacity[None, :] - load.mean(axis=1)[:, None]
        drain_s = np.divide(
            pause_s * load.mean(axis=1)[:, None], spare, out=np.full_like(ends_s, np.inf), where=spare > 0.0
        )
        ends_s = ends_s + drain_s
    stopped = begins_s[None, None, :] < ends_s[:, :, None]
    beyond = np.minimum(np.maximum(0.0, ends_s / (step_s * load.shape[1]) - 1.0), float(len(load)))
    return over.mean(axis=2), (over | stopped).mean(axis=2) + beyond
