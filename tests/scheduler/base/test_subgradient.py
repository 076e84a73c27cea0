"""Subgradient ascent on a bound that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.base.subgradient import StepRule, ascend
from scheduler.base.work import Work

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray

TOP = np.array([3.0, -2.0])


@dataclass(frozen=True, eq=False)
class Tent:
    """The bound falls by the distance from the top along each axis."""

    at: FloatArray

    @property
    def bound(self) -> float:
        return 10.0 - float(np.abs(self.at - TOP).sum())


def slopes(now: Tent) -> tuple[FloatArray, ...]:
    return (np.sign(TOP - now.at),)


def climbed(rule: StepRule, most: int, work: float = math.inf, target: float = 10.0) -> tuple[Tent, int]:
    """The best point, and how many steps were taken."""
    budget = Work(Deadline.none(), work)

    def step(now: Tent, length: float, slope: tuple[FloatArray, ...]) -> Tent:
        budget.add(1)
        return Tent(now.at + length * slope[0])

    best = ascend(Tent(np.zeros(2)), slopes, step, target=target, rule=rule, most=most, work=budget)
    return best, budget.done


@pytest.mark.parametrize("from_best", [False, True])
def test_it_comes_close_to_the_top(from_best: bool) -> None:
    """From a known value as target, and from one that is too high."""
    for target in (10.0, 12.0):
        best, _ = climbed(StepRule(patience=2, from_best=from_best), 200, target=target)
        assert best.bound == pytest.approx(10.0, abs=1e-2)


def test_it_returns_the_best_point_and_not_the_last() -> None:
    """Steps towards a target far above the top overshoot."""
    bounds = [climbed(StepRule(patience=3), most, target=20.0)[0].bound for most in range(12)]

    assert bounds == sorted(bounds)


def test_it_ends_at_the_target_the_least_step_and_the_limit_of_work() -> None:
    """Whichever comes first."""
    assert climbed(StepRule(patience=1), 100, target=5.0)[1] == 0
    assert climbed(StepRule(patience=1, shortened=0.5, least=0.3), 100, target=1e9)[1] <= 4
    assert climbed(StepRule(patience=5), 100, work=2.0, target=20.0)[1] == 3
