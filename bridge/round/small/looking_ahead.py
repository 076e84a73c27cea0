"""A move for a gain, judged by the hours to come instead of the present one alone (`move.look_ahead_hours`).

It counts where something is known that makes a difference: how busy the hours to come usually are, for a
topology that weighs its traffic or limits its durations by the queues that rates make; and drains that are
announced. Every change has the price of the least gain over all of these hours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.round.small.candidate import placement_on, weigh
from bridge.round.small.stability import percent
from bridge.round.small.steps_ahead import steps_ahead
from formats.week_curve import HOUR_S
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.strategy import Context
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.model.metrics.inter_node_traffic import INTER_NODE_TRAFFIC
from scheduler.model.metrics.network_usage import NETWORK_USAGE
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.moving.horizon import Horizon
from scheduler.moving.rolling import look_ahead
from scheduler.moving.steps import forecast
from scheduler.search.descent import descend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.round.small.candidate import Candidate, Running
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.stability import Stability
    from bridge.round.small.verdict import Verdict
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem
    from scheduler.moving.rolling import RollingPlan
    from scheduler.moving.steps import Forecast, Step

_PLACEMENTS = 24
"""In the pool to begin with: every one is evaluated in each step, within a topology's share of a round."""


@dataclass(frozen=True)
class Ahead:
    """What the hours to come speak for.

    Attributes:
        candidate: Where to move now; None: nowhere.
        why_not: Why nowhere; empty if there is a candidate.
        note: What a status says of a move besides what it gains now.
    """

    candidate: Candidate | None
    why_not: str = ""
    note: str = ""

    def noted(self, verdict: Verdict) -> Verdict:
        """Return a verdict on the candidate with what it gains over the hours to come."""
        return (
            replace(verdict, reason=f"{verdict.reason} now, {self.note}")
            if verdict.kind == "moved"
            else verdict
        )


@dataclass(frozen=True, eq=False)
class Prospect:
    """The hours to come of a topology that runs.

    Attributes:
        running: The topology.
        steps: What is known of them.
    """

    running: Running
    steps: tuple[Step, ...]

    @staticmethod
    def of(running: Running, hours: float) -> Prospect | None:
        """Return what is known of the hours to come; None if nothing is that makes a difference.

        Args:
            running: The topology.
            hours: How far to look; 0 for not at all.
        """
        task, problem = running.task, running.question.problem
        if hours <= 0 or running.broken or task.settings.replan_persistence == "pin":
            return None
        if check(problem, running.question.frame.current):
            # what is above what its hosts have may stay, which steps would not permit
            return None
        rates = task.measured if _rates_matter(problem) else None
        there = problem.network.index
        steps = steps_ahead(
            () if rates is None else rates.hours_ahead,
            HOUR_S if rates is None else rates.hour_left_s,
            {name: at_s for name, at_s in task.wishes.announced_s.items() if name in there},
            hours * HOUR_S,
        )
        return Prospect(running, steps) if steps else None

    def choose(self, search: Search, answer: Answer, stability: Stability) -> Ahead | None:
        """Return where to be for the hours to come; None if that cannot be known.

        Args:
            search: Gives the topology its time.
            answer: What its strategy says of the present.
            stability: Knows which placement is being watched.
        """
        running = self.running
        frame = running.question.frame
        watched = stability.watched(running.task.index)
        held = running.nodes_named(watched.hosts) if watched is not None and watched.hosts else None
        nearby = search.nearby(running.task, running.question)
        also = [frame.nodes_of(each) for each in (answer.placement, nearby) if each is not None]
        also += [] if held is None else [held]
        outlook = forecast(running.question.problem, self.steps)
        horizon = self._horizon(outlook)
        with search.limited(running.task) as limit:
            # What follows, and other topologies, need time too.
            deadline = limit.deadline.share(0.5)
            plan = look_ahead(
                running.question.problem,
                outlook,
                lambda problem: _nearest_optimum(problem, frame.current, deadline),
                horizon,
                deadline,
                also=also,
            )
        if plan is None or not plan.settled:
            # There was no time for all hours: the present one counts.
            return None
        chosen = plan.placement
        # of two that pay the watched one counts, or none would ever have been watched for long enough
        if held is not None and (plan.saved_by(held) or 0.0) > OBJECTIVE_STEP:
            chosen = held
        return self._said(plan, chosen, horizon)

    def _said(self, plan: RollingPlan, chosen: IntArray, horizon: Horizon) -> Ahead:
        running = self.running
        hours = sum(step.seconds for step in self.steps) / HOUR_S
        over = f"over the next {hours:.0f} h (move.look_ahead_hours)"
        if (chosen == running.question.frame.current).all():
            return Ahead(None, f"no change pays {over}")
        placement = placement_on(running, running.names(running.question.frame.hosts_of(chosen)))
        if placement is None:
            return Ahead(None, f"what is best {over} has too few worker slots")
        saved = (plan.saved_by(chosen) or 0.0) + horizon.change_price
        part = saved / plan.staying if plan.staying > 0 else 0.0
        return Ahead(weigh(running, placement), note=f"{percent(part)} {over}")

    def _horizon(self, outlook: Forecast) -> Horizon:
        """Return how steps are weighed: by the hour, and a change by the least gain over all of them."""
        current, thresholds = self.running.question.frame.current, self.running.thresholds
        worth = [evaluate(each, current) for each in outlook.problems]
        hours = np.array(outlook.seconds) / HOUR_S
        first = outlook.problems[0]
        if thresholds.of_f is not None:
            least = thresholds.of_f * float(hours.sum())
        elif first.objective.weights[RESPONSE_TIME.name] == 1.0:
            times = np.array(
                [max(thresholds.fraction * each.response_time_ms, thresholds.ms) for each in worth]
            )
            least = first.scale.factor(RESPONSE_TIME.name) * float(hours @ times[list(outlook.of_step)])
        else:
            objective = np.array([each.objective for each in worth])
            least = thresholds.fraction * float(hours @ objective[list(outlook.of_step)])
        return Horizon(period_s=HOUR_S, change_price=max(least, 0.0), most=_PLACEMENTS)


def _rates_matter(problem: Problem) -> bool:
    weights = problem.objective.weights
    traffic = weights[NETWORK_USAGE.name] > 0 or weights[INTER_NODE_TRAFFIC.name] > 0
    return traffic or bool(problem.application.duration_max_ms.any())


def _nearest_optimum(problem: Problem, running: IntArray, deadline: Deadline) -> IntArray | None:
    """Return what steps from a running placement lead to, whatever the topology's strategy.

    A step in which the running placement cannot be begins with the greedy one.
    """
    starts: Sequence[IntArray] = [each for each in (problem.current, running) if each is not None]
    start = next((each for each in starts if not check(problem, each)), None)
    if start is None:
        start = greedy_placement(problem, Context(np.random.default_rng(0), deadline)).placement
    return None if start is None else descend(problem, start, deadline).placement
