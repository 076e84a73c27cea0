"""The rule to move: a plan is carried out for a gain that is large, no noise, and pays its price in time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import number, whole_number
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.noise import gain_noise

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem
    from scheduler.moving.reading_errors import ReadingErrors


@dataclass(frozen=True)
class MoveRule:
    """When a plan is worth what it costs.

    Attributes:
        least_gain: Of F (>= 0); a plan has to gain more. It is the best of many, looked for in each cycle, so
            that gains of a few hundredths come and go with readings.
        sigmas: By how many standard deviations of its own noise a gain has to be above 0 (>= 0).
        draws: How many problems are drawn to know the noise (>= 2).
        horizon_s: Time within which a plan has to pay its price, s (>= 0); None: whenever.
    """

    least_gain: float = 0.03
    sigmas: float = 2.0
    draws: int = 64
    horizon_s: float | None = None

    def __post_init__(self) -> None:
        number("least_gain", self.least_gain)
        number("sigmas", self.sigmas)
        whole_number("draws", self.draws, 2)
        if self.horizon_s is not None:
            number("horizon_s", self.horizon_s)


@dataclass(frozen=True)
class Judgement:
    """What speaks for and against a plan beside staying.

    Attributes:
        gain: Of F, the price of the moves included; 0 where nothing runs yet.
        noise: Standard deviation of the gain within the errors of the readings.
        price: Of the moves, in cost units.
        worth_per_s: What the plan is worth per second beyond staying, in cost units, by the weights; None if
            they do not weigh the cost, so that a unit of it has no known worth.
        payback_s: Time after which the plan has paid its price, s; infinite if it never does; None where
            `worth_per_s` is.
        why_not: Why the plan is not to be carried out; empty if it is.
    """

    gain: float
    noise: float
    price: float
    worth_per_s: float | None
    payback_s: float | None
    why_not: str


def judge(
    problem: Problem,
    placement: IntArray,
    rule: MoveRule,
    errors: ReadingErrors | None = None,
    seed: int = 0,
) -> Judgement:
    """Weigh a plan against staying.

    What has no place yet, or breaks a constraint where it is, has to move, whatever that gains.

    The weights say what a second of response time or a part of availability is worth in units of the cost:
    F grows by the weight of the cost over its range per unit. With the cost alone this is the money that the
    plan saves per second, which paper 001 weighs against the price of moving.

    Args:
        problem: As it was read, with a current placement.
        placement: (n_ops,) the plan.
        rule: The least gain, the noise and the horizon.
        errors: Of the readings; None: they are exact.
        seed: Of the draws.
    """
    current, after = problem.current, evaluate(problem, placement)
    price = after.values[MIGRATION.name]
    if current is None or (current < 0).any() or check(problem, current):
        return Judgement(0.0, 0.0, price, None, None, "")
    if (placement == current).all():
        return Judgement(0.0, 0.0, 0.0, None, None, "the plan is the placement that runs")
    before = evaluate(problem, current)
    gain = before.objective - after.objective
    noise = 0.0
    # a gain that is too small anyway needs no look at its noise
    if errors is not None and rule.sigmas > 0 and gain > rule.least_gain:
        noise = gain_noise(problem, current, placement, errors, draws=rule.draws, seed=seed)
    worth = _worth_per_s(problem, before, after)
    payback = payback_s(problem, before, after)
    return Judgement(gain, noise, price, worth, payback, _why_not(rule, gain, noise, payback))


def payback_s(problem: Problem, before: Evaluation, after: Evaluation) -> float | None:
    """Return the time after which a plan has paid the price of its moves, s; infinite if it never does.

    Args:
        problem: With the current placement.
        before: Worth of that.
        after: Worth of the plan.

    Returns:
        None if the weights do not say what a unit of the cost is worth.
    """
    price, worth = after.values[MIGRATION.name], _worth_per_s(problem, before, after)
    if worth is None or price <= 0:
        return None if worth is None else 0.0
    return price / worth if worth > 0 else math.inf


def _why_not(rule: MoveRule, gain: float, noise: float, payback_s: float | None) -> str:
    if gain <= max(rule.least_gain, OBJECTIVE_STEP):
        return f"the gain {gain:.3g} is not above {rule.least_gain:g}"
    if gain <= rule.sigmas * noise:
        return f"the gain {gain:.3g} is within {rule.sigmas:g} standard deviations of its noise {noise:.2g}"
    if rule.horizon_s is not None and payback_s is not None and payback_s >= rule.horizon_s:
        never = "never pays its price"
        late = f"pays its price after {payback_s:.3g} s"
        return f"the plan {never if math.isinf(payback_s) else late}, not within {rule.horizon_s:g} s"
    return ""


def _worth_per_s(problem: Problem, before: Evaluation, after: Evaluation) -> float | None:
    factor = problem.scale.factor(COST.name)
    if factor <= 0:
        return None
    moving = problem.scale.factor(MIGRATION.name) * (
        after.values[MIGRATION.name] - before.values[MIGRATION.name]
    )
    return (before.objective - after.objective + moving) / factor
