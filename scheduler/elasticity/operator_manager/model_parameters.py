"""What a model-based operator manager is told, and the conditions between its weights."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, frozen
from scheduler.base.checks import ModelError, number, shown, whole_number
from scheduler.elasticity.operator_manager.joint import of_path
from scheduler.elasticity.operator_manager.queue_model import least_executors
from scheduler.elasticity.useful import choices

if TYPE_CHECKING:
    from scheduler.elasticity.learning.season import SeasonParameters
    from scheduler.elasticity.operator_manager.path import Path

_SUM = 1e-9
"""Weights add up to 1 within this."""


@dataclass(frozen=True)
class OperatorWeights:
    """What the three terms of the cost weigh; each term lies in [0, 1], and weights add up to 1.

    Attributes:
        performance: w_perf, of an interval whose response time is above its bound.
        reconfiguration: w_rcf, of a change.
        resources: w_res, of all executors that may run.
    """

    performance: float = 1.0 / 3.0
    reconfiguration: float = 1.0 / 3.0
    resources: float = 1.0 / 3.0

    def __post_init__(self) -> None:
        given = [
            number(each, getattr(self, each)) for each in ("performance", "reconfiguration", "resources")
        ]
        if abs(sum(given) - 1.0) > _SUM:
            raise ModelError("weights", f"expected a sum of 1, got {sum(given):g}")


@dataclass(frozen=True, kw_only=True)
class ModelBasedParameters:
    """Parameters of the manager; those of its repairs are as the paper has it unless they are set.

    Attributes:
        executors_max: K (>= executors_min).
        executors_min: Least number (>= 1).
        levels: L, of the arrival rate (>= 1).
        rate_max: Tuples per second at the upper end of the highest level (> 0).
        response_max_ms: R_max,op, bound on the mean time in the component, ms (> 0).
        weights: Of the cost.
        discount: gamma, in [0, 1); the paper's text does not state it.
        learning_rate: alpha, in (0, 1]; the paper's text does not state it.
        sample_age_max_s: Age above which a sample decides nothing, s (> 0).
        period_s: Time between two decisions, s (> 0).
        pause_s: How long a change pauses the component, and what then has waited takes to drain, s (>= 0).
        service_rate: mu, tuples per second of one executor (> 0); None: unknown.
        skip_disturbed: Repair: learn no cost from an interval with a pause, or one that drained a backlog
            although executors could keep up (the latter needs `service_rate`).
        hold_disturbed: Repair: nothing is asked for on such an interval. Without it a component that is
            changed in each period never learns what its changes cost, and goes on.
        keep_estimates: Repair: estimates stay as they were learned; that they must not contradict each other
            is heeded when they are read.
        guard: Repair: executors that are saturated twice while nothing is asked ask for one more, or in every
            fourth sample if they drain a backlog, and a level at which every number of executors seems to be
            late is learned anew.
        start_from_queues: Repair: begin with what queues predict, not with zeros (needs `service_rate`).
        share_bound: Repair: an interval is late only if the whole application was, too: what other components
            leave of the bound may be used. What queues predict is then that of the path.
        steps: Ours: how many steps may be taken at once (>= 1); 1: as the paper has it. A step is an
            executor, a number that makes a difference (`tasks`), or a rung (`joint`).
        joint: Ours: the managers of a path learn one model, in which executors are rungs of its ladder and
            the rate is that into the path. Each asks for its own part of a rung: what changes changes with
            one pause, and a part may use what others leave of the bound (needs `path`).
        season: Repair: the level is that of the highest rate that is expected until `ahead_s`, by what is
            usual at each time of the week; None: of the last rate.
        ahead_s: For how long from now on, s (>= 0).
        path: Of which the component is a part; None: unknown.
        component: Its name in the path; needed with it.
        heed_conditions: Refuse weights with which a bad policy is optimal (`conditions`).
        tasks: Among which executors are dealt (`useful`); None: as many as one likes. A step goes to the next
            number that makes a difference.
    """

    executors_max: int
    rate_max: float
    response_max_ms: float
    executors_min: int = 1
    levels: int = 20
    weights: OperatorWeights = field(default_factory=OperatorWeights)
    discount: float = 0.99
    learning_rate: float = 0.1
    sample_age_max_s: float = 120.0
    period_s: float = 60.0
    pause_s: float = 0.0
    service_rate: float | None = None
    skip_disturbed: bool = False
    hold_disturbed: bool = False
    keep_estimates: bool = False
    guard: bool = False
    start_from_queues: bool = False
    share_bound: bool = False
    steps: int = 1
    joint: bool = False
    season: SeasonParameters | None = None
    ahead_s: float = 900.0
    path: Path | None = None
    component: str = ""
    heed_conditions: bool = True
    tasks: int | None = None

    def __post_init__(self) -> None:
        whole_number("executors_min", self.executors_min, 1)
        whole_number("executors_max", self.executors_max, self.executors_min)
        whole_number("levels", self.levels, 1)
        whole_number("steps", self.steps, 1)
        number("rate_max", self.rate_max, above=0.0)
        number("response_max_ms", self.response_max_ms, above=0.0)
        if number("discount", self.discount, most=1.0) >= 1.0:
            raise ModelError("discount", "expected a number < 1, got 1")
        number("learning_rate", self.learning_rate, above=0.0, most=1.0)
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)
        number("period_s", self.period_s, above=0.0)
        number("pause_s", self.pause_s)
        if self.service_rate is not None:
            number("service_rate", self.service_rate, above=0.0)
        elif self.start_from_queues and not self.joint:
            raise ModelError("start_from_queues", "expected a service_rate beside it, got none")
        number("ahead_s", self.ahead_s)
        if self.path is not None and self.path.place(self.component) is None:
            raise ModelError("component", f"expected one of the path, got {shown(self.component)}")
        if self.joint and self.path is None:
            raise ModelError("joint", "expected a path beside it, got none")
        broken = self.conditions()
        if self.heed_conditions and broken:
            raise ModelError("weights", broken[0])

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """Numbers of executors that states are of, by rising number; (n_rows,)."""
        return tuple(sorted({*choices(self.tasks, 1, self.executors_max), self.executors_min}))

    def row(self, executors: int) -> int:
        """Return the row of a number of executors: that of the largest choice that is not above it."""
        return bisect_right(self.choices, executors) - 1

    @cached_property
    def together(self) -> ModelBasedParameters:
        """Parameters of the model of the whole path (`of_path`); where managers are `joint`."""
        assert self.path is not None  # noqa: S101  # it is checked beside joint
        return of_path(self, self.path)

    @cached_property
    def resource_costs(self) -> FloatArray:
        """(K,) w_res (k + a) / most k, by the row of k + a; with w_rcf [a != 0] that is ck(k, a)."""
        executors, most = np.array(self.choices), self.executors_max
        if self.joint and self.path is not None:
            executors = self.path.ladder.sizes
            most = int(executors[-1])
        return frozen(self.weights.resources * executors / most)

    @property
    def path_rate_max(self) -> float:
        """Return `rate_max` as a rate into the path, the same for all its components but for rounding."""
        place = None if self.path is None else self.path.place(self.component)
        rate = (
            self.rate_max
            if self.path is None or place is None
            else self.rate_max / self.path.parts[place].per_item
        )
        return float(f"{rate:.9g}")

    def conditions(self) -> tuple[str, ...]:
        """Return what is wrong between the weights, one sentence each; empty if a good policy is optimal."""
        weights, k = self.weights, self.executors_max
        needed = k
        if self.joint and self.path is not None:
            ladder = self.path.ladder
            rung = min(len(ladder.kept) - 1, int(np.searchsorted(ladder.kept, self.path_rate_max)))
            k, needed = int(ladder.sizes[-1]), int(ladder.sizes[rung])
        elif self.service_rate is not None:
            needed = least_executors(self.rate_max, self.service_rate, self.response_max_ms, k) or k
        peak = weights.resources * (needed - 1) / k
        for_ever = weights.resources / (k * (1.0 - self.discount))
        free = weights.performance * min(1.0, self.pause_s / self.period_s)
        broken = []
        if weights.performance <= peak:
            less = f"(resources of {needed - 1} of {k} executors), or being late at the peak is optimal"
            broken.append(f"performance {weights.performance:g} has to be above {peak:g} {less}")
        if weights.reconfiguration >= for_ever:
            more = "(what one executor costs for ever), or none is ever given back"
            broken.append(f"reconfiguration {weights.reconfiguration:g} has to be below {for_ever:g} {more}")
        if weights.reconfiguration < free:
            less = "(performance for the time of a pause), or pauses are free"
            broken.append(f"reconfiguration {weights.reconfiguration:g} has to be at least {free:g} {less}")
        return tuple(broken)
