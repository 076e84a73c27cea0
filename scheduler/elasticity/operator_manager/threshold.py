"""Asks by thresholds of utilisation (paper 004, section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, number, whole_number
from scheduler.elasticity.managers import why_held
from scheduler.elasticity.operator_manager.request import OperatorRequest
from scheduler.elasticity.useful import choices, effective, stepped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample


@dataclass(frozen=True, kw_only=True)
class ThresholdParameters:
    """When executors are added and taken away.

    Attributes:
        executors_max: n_max (>= executors_min).
        executors_min: Least number (>= 1).
        scale_out: U_out, utilisation above which one is added, in (0, 1].
        scale_in_factor: c, in (0, 1): one is taken away if the others would then be below c U_out.
        in_vain_max: After so many additions in a row that took nothing off the fullest executor no more are
            asked for (>= 1): its keys cannot be divided. None: no end to it (the paper).
        sample_age_max_s: Age above which a sample decides nothing, s (> 0).
        tasks: Among which executors are dealt (`useful`); None: as many as one likes.
    """

    executors_max: int
    executors_min: int = 1
    scale_out: float = 0.7
    scale_in_factor: float = 0.75
    in_vain_max: int | None = 2
    sample_age_max_s: float = 120.0
    tasks: int | None = None

    def __post_init__(self) -> None:
        whole_number("executors_min", self.executors_min, 1)
        whole_number("executors_max", self.executors_max, self.executors_min)
        number("scale_out", self.scale_out, above=0.0, most=1.0)
        if number("scale_in_factor", self.scale_in_factor, above=0.0, most=1.0) >= 1.0:
            raise ModelError("scale_in_factor", "expected a number < 1, got 1")
        if self.in_vain_max is not None:
            whole_number("in_vain_max", self.in_vain_max, 1)
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)


@dataclass(frozen=True)
class ThresholdState:
    """Memory of the manager.

    Attributes:
        executors: How many the last sample was of; None: there was none.
        share: Of all work, what the fullest executor did in the last sample.
        in_vain: Additions in a row that took nothing off it.
    """

    executors: int | None = None
    share: float = 0.0
    in_vain: int = 0


def threshold_action(utilisation: Sequence[float], parameters: ThresholdParameters) -> int:
    """Return how many executors more or less there should be; more below the least number in any case.

    +1 if max U_r > U_out and n < n_max; -1 if max U_r <= U_out, n > 1 and sum U_r / (n - 1) < c U_out. "The
    replica utilisation exceeds" is read as that of any replica: the fullest one breaks the bound on the
    response time. Where tasks are dealt, a step goes to the next number that makes a difference.

    Args:
        utilisation: (n,) U_r of each executor.
        parameters: U_out, c and the bounds of n.
    """
    n, tasks = len(utilisation), parameters.tasks
    choice = choices(tasks, parameters.executors_min, parameters.executors_max)
    if n < parameters.executors_min or max(utilisation) > parameters.scale_out:
        return stepped(choice, n, 1) - n
    less = stepped(choice, n, -1)
    if less == n:
        return 0
    would_be = sum(utilisation) / effective(tasks, less)
    return less - n if would_be < parameters.scale_in_factor * parameters.scale_out else 0


def decide(
    observation: OperatorObservation,
    state: ThresholdState,
    parameters: ThresholdParameters,
    seed: int,
) -> tuple[OperatorRequest, ThresholdState]:
    """Ask for an executor more or less.

    Args:
        observation: The last sample.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    sample = observation.sample
    held = why_held(observation.now_s, sample, observation.changed_s, parameters.sample_age_max_s)
    if sample is None or held:
        return OperatorRequest("" if sample is None else sample.component, 0, "held", held), state
    state = _seen(state, sample, parameters.scale_out)
    action = threshold_action(sample.utilisation, parameters)
    fullest = max(sample.utilisation)
    if action > 0 and parameters.in_vain_max is not None and state.in_vain >= parameters.in_vain_max:
        why = f"{state.in_vain} executors more took nothing off the fullest one, whose keys cannot be divided"
        return OperatorRequest(sample.component, 0, "limited", why), state
    if action == 0 and fullest > parameters.scale_out:
        why = f"{fullest:.0%} of an executor is busy, but there are {parameters.executors_max} at most"
        return OperatorRequest(sample.component, 0, "limited", why), state
    why = f"the fullest executor is busy for {fullest:.0%} of the time"
    return OperatorRequest(sample.component, action, "asked" if action else "kept", why), state


def _seen(state: ThresholdState, sample: OperatorSample, scale_out: float) -> ThresholdState:
    """Remember a sample, and whether what was added before it helped.

    That is judged by the fullest executor's share in all work, which does not depend on the load. Even keys
    let it fall by n / (n + 1); half of this fall is asked for.
    """
    now, total = sample.executors, sum(sample.utilisation)
    share = max(sample.utilisation) / total if total else 0.0
    before = now if state.executors is None else state.executors
    in_vain = state.in_vain
    if max(sample.utilisation) <= scale_out or now < before:
        in_vain = 0
    elif now > before:
        in_vain = in_vain + 1 if share > state.share * (1.0 + before / now) / 2.0 else 0
    return ThresholdState(now, share, in_vain)
