"""Asks for what a learned model says is cheapest in the long run (paper 004, section 7.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.elasticity.learning.choice import ACTIONS
from scheduler.elasticity.learning.season import Season
from scheduler.elasticity.managers import why_held
from scheduler.elasticity.operator_manager.along import along
from scheduler.elasticity.operator_manager.joint import rung_of, sample_of
from scheduler.elasticity.operator_manager.model import OperatorModel, first_unknown
from scheduler.elasticity.operator_manager.request import OperatorRequest
from scheduler.elasticity.useful import effective, stepped

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
    from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample

_BUSY = 0.95
"""Mean utilisation above which executors count as saturated."""
_SLOW = 4
"""Samples in a row of executors that are saturated by a backlog; what a pause leaves is drained by then."""


@dataclass(frozen=True, eq=False)
class ModelBasedState:
    """Memory of the manager.

    Attributes:
        model: What it has learned; None: nothing yet.
        level: x of the last sample; None: there was none.
        until_s: End of the last sample's interval, s, so that none is learned from twice; 0: there was none.
        saturated: Samples in a row of saturated executors.
        season: What is known of rates; None: nothing yet, or it is not asked for.
    """

    model: OperatorModel | None = None
    level: int | None = None
    until_s: float = 0.0
    saturated: int = 0
    season: Season | None = None


def level_of(rate: float, parameters: ModelBasedParameters) -> int:
    """Return x = min(L - 1, floor(rate / rate_max L))."""
    return min(parameters.levels - 1, math.floor(rate / parameters.rate_max * parameters.levels))


def decide(
    observation: OperatorObservation,
    state: ModelBasedState,
    parameters: ModelBasedParameters,
    seed: int,
) -> tuple[OperatorRequest, ModelBasedState]:
    """Learn from the interval that has just ended, then ask for the action with the least cost to come.

    What is learned is what really ran: a request that was rejected was no change. Nothing is explored on
    purpose: what was never tried looks cheap at first.

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
    if parameters.joint and parameters.path is not None:
        return _for_path(observation, sample, state, parameters)
    if sample.executors > parameters.executors_max:
        why = f"{sample.executors} executors run, more than the {parameters.executors_max} that it knows of"
        return OperatorRequest(sample.component, 0, "held", why), state
    state = learned(state, sample, parameters)
    return _request(sample, state, parameters), state


def _for_path(
    observation: OperatorObservation,
    sample: OperatorSample,
    state: ModelBasedState,
    parameters: ModelBasedParameters,
) -> tuple[OperatorRequest, ModelBasedState]:
    """Learn for the whole path, and ask for the component's part of what is cheapest for all."""
    path, component, own = parameters.path, sample.component, sample.executors
    assert path is not None  # noqa: S101  # it is checked beside joint
    place = path.place(component)
    if place is None:
        return OperatorRequest(component, 0, "held", "it is no part of the path that is learned"), state
    samples, held = along(observation, path, parameters.sample_age_max_s)
    if held:
        return OperatorRequest(component, 0, "held", held), state
    part = path.parts[place]
    if own > part.executors_max:
        why = f"{own} executors run, more than the {part.executors_max} that it knows of"
        return OperatorRequest(component, 0, "held", why), state
    request, state = _together(samples, state, parameters.together)
    if own < part.executors_min:
        why = f"at least {part.executors_min} executors are to run"
        return OperatorRequest(component, part.executors_min - own, "asked", why), state
    running = tuple(each.executors for each in samples)
    wanted = path.ladder.executors[rung_of(running, path) + request.action - 1]
    if not request.action and (request.verdict != "kept" or sum(wanted) >= sum(running)):
        return replace(request, component=component), state
    # also without another rung: those of the ladder carry as much, and by the conditions one less pays
    action = wanted[place] - own
    return replace(request, component=component, action=action, verdict="asked" if action else "kept"), state


@lru_cache(maxsize=64)
def _together(
    samples: tuple[OperatorSample, ...], state: ModelBasedState, parameters: ModelBasedParameters
) -> tuple[OperatorRequest, ModelBasedState]:
    """Learn and return what is asked for the path: once, for the managers of all its components."""
    assert parameters.path is not None  # noqa: S101  # it is checked beside joint
    sample = sample_of(samples, parameters.path)
    state = learned(state, sample, parameters)
    return _request(sample, state, parameters), state


def _request(
    sample: OperatorSample, state: ModelBasedState, parameters: ModelBasedParameters
) -> OperatorRequest:
    """Return what is asked for after a sample that has been learned from."""
    assert state.model is not None  # noqa: S101  # it was made when it learned
    worth = state.model.worth[parameters.row(sample.executors), state.level or 0]
    stay, more = float(worth[0]), float(worth[ACTIONS.index(1)])
    one_more = stepped(parameters.choices, sample.executors, 1) - sample.executors
    if sample.executors < parameters.executors_min:
        why = f"at least {parameters.executors_min} executors are to run"
        return OperatorRequest(sample.component, one_more, "asked", why, more, stay)
    slow = parameters.guard and state.saturated > 0 and state.saturated % _SLOW == 0
    if parameters.hold_disturbed and disturbed(sample, parameters) and not slow:
        why = "the sample says nothing: the topology paused, or drained a backlog"
        return OperatorRequest(sample.component, 0, "held", why)
    if parameters.guard and state.saturated >= 2:
        if not one_more:
            why = f"the executors are saturated, but there are {parameters.executors_max} at most"
            return OperatorRequest(sample.component, 0, "limited", why)
        why = f"the executors were saturated in {state.saturated} samples in a row"
        return OperatorRequest(sample.component, one_more, "asked", why, more, stay)
    action = state.model.change(sample.executors, state.level or 0, parameters)
    score = float(worth.min())
    why = f"{score:.4g} is the least cost to come, {stay:.4g} that of staying"
    return OperatorRequest(sample.component, action, "asked" if action else "kept", why, score, stay)


def learned(
    state: ModelBasedState, sample: OperatorSample, parameters: ModelBasedParameters
) -> ModelBasedState:
    """Return the state after a sample that has not been learned from yet."""
    if sample.until_s <= state.until_s:
        return state
    model = OperatorModel.first(parameters) if state.model is None else state.model
    season = _seen(state.season, sample, parameters)
    level = level_of(_rate(season, sample, parameters), parameters)
    if state.level is not None:
        model = model.followed(state.level, level)
        if not (parameters.skip_disturbed and disturbed(sample, parameters)):
            late = sample.response_ms > parameters.response_max_ms
            if parameters.share_bound and sample.application_load is not None:
                late = late and sample.application_load > 1.0
            paid = parameters.weights.performance if late else 0.0
            model = model.charged(sample.executors, level, paid, parameters)
    if parameters.guard:
        model = _without_saturated_levels(model, parameters)
    busy = sum(sample.utilisation) / sample.executors > _BUSY
    saturated = state.saturated + 1 if busy else 0
    return ModelBasedState(model.swept(parameters), level, sample.until_s, saturated, season)


def _seen(season: Season | None, sample: OperatorSample, parameters: ModelBasedParameters) -> Season | None:
    if parameters.season is None:
        return None
    known = Season.first(parameters.season) if season is None else season
    return known.seen(sample.until_s, sample.arrival_rate, parameters.season)


def _rate(season: Season | None, sample: OperatorSample, parameters: ModelBasedParameters) -> float:
    """Return the rate whose level counts: the last one, or the highest that is expected."""
    if season is None or parameters.season is None:
        return sample.arrival_rate
    times_s = sample.until_s + np.arange(0.0, parameters.ahead_s + 1.0, parameters.period_s)
    return float(season.forecast(times_s, parameters.season).max())


def disturbed(sample: OperatorSample, parameters: ModelBasedParameters) -> bool:
    """Return whether an interval says nothing about the number of executors that ran in it.

    A backlog alone is no disturbance where arrivals exceed what executors serve: else overload would never
    be learned.
    """
    if sample.paused:
        return True
    if not sample.backlog or parameters.service_rate is None:
        return False
    return sample.arrival_rate < effective(parameters.tasks, sample.executors) * parameters.service_rate


def _without_saturated_levels(model: OperatorModel, parameters: ModelBasedParameters) -> OperatorModel:
    """Forget estimates of levels at which every number of executors seems to be late: then the fewest win."""
    worst = parameters.weights.performance
    saturated = (model.unknown >= _BUSY * worst).all(axis=0) & (worst > 0.0)
    if not saturated.any():
        return model
    unknown = np.where(saturated, first_unknown(parameters), model.unknown)
    forgotten = replace(model, seen=frozen(np.where(saturated, 0.0, model.seen)))
    return forgotten.with_estimates(frozen(unknown), parameters)
