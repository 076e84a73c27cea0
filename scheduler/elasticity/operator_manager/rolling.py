"""Asks for what is cheapest over the hours to come, by queues and by what is usual at their time (ours).

A component alone cannot know what it may take of the bound: that depends on what the others leave of it. So
each manager plans for the whole path, and asks for its own part. All see the same samples and plan the same,
so that what changes changes in one period, with one pause.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.learning.season import Season
from scheduler.elasticity.managers import why_held
from scheduler.elasticity.operator_manager.along import along
from scheduler.elasticity.operator_manager.horizon import Ahead, Choice, cheapest, stages_ahead
from scheduler.elasticity.operator_manager.request import OperatorRequest
from scheduler.elasticity.useful import stepped

if TYPE_CHECKING:
    from scheduler.elasticity.learning.season import SeasonParameters
    from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
    from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample

_BUSY = 0.95
"""Mean utilisation above which executors count as saturated."""


@dataclass(frozen=True, eq=False)
class RollingState:
    """Memory of the manager.

    Attributes:
        season: What is known of the rate into the path; None: nothing yet.
        until_s: End of the last sample's interval, s, so that none counts twice; 0: there was none.
        saturated: Samples in a row in which its executors were busier than the load explains.
    """

    season: Season | None = None
    until_s: float = 0.0
    saturated: int = 0


def decide(
    observation: OperatorObservation,
    state: RollingState,
    parameters: RollingParameters,
    seed: int,
) -> tuple[OperatorRequest, RollingState]:
    """Learn from the interval that has just ended, plan, and ask for the first step of the plan.

    Args:
        observation: The last samples of all components of the path.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    sample = observation.sample
    held = why_held(observation.now_s, sample, observation.changed_s, parameters.sample_age_max_s)
    if sample is None or held:
        return OperatorRequest("" if sample is None else sample.component, 0, "held", held), state
    component, parts = sample.component, parameters.path.parts
    place = parameters.path.place(component)
    if place is None:
        why = "it is no part of the path that is planned"
        return OperatorRequest(component, 0, "held", why), state
    samples, held = along(observation, parameters.path, parameters.sample_age_max_s)
    if held:
        return OperatorRequest(component, 0, "held", held), state
    state = _learned(state, sample, samples[0].arrival_rate / parts[0].per_item, parameters)
    return _request(place, samples, state, parameters), state


def _learned(
    state: RollingState, sample: OperatorSample, rate: float, parameters: RollingParameters
) -> RollingState:
    """Return the state after samples that have not been learned from yet."""
    if sample.until_s <= state.until_s:
        return state
    seen = _seen(state.season, sample.until_s, rate, parameters.season)
    saturated = state.saturated + 1 if _busy_for_no_reason(sample, parameters) else 0
    return RollingState(seen, sample.until_s, saturated)


@lru_cache(maxsize=64)
def _seen(season: Season | None, until_s: float, rate: float, parameters: SeasonParameters) -> Season:
    """Learn a rate: once, for the managers of all components, which begin with the same and see the same."""
    known = Season.first(parameters) if season is None else season
    return known.seen(until_s, rate, parameters)


def _busy_for_no_reason(sample: OperatorSample, parameters: RollingParameters) -> bool:
    """Return whether executors were saturated by less than they are thought to serve."""
    place = parameters.path.place(sample.component)
    passed_s = sample.until_s - sample.from_s
    could = 0.0 if place is None else parameters.path.parts[place].served(sample.executors) * passed_s
    busy = sum(sample.utilisation) / sample.executors
    return busy > _BUSY and sample.backlog + sample.arrival_rate * passed_s < _BUSY * could


def _request(
    place: int, samples: tuple[OperatorSample, ...], state: RollingState, parameters: RollingParameters
) -> OperatorRequest:
    """Return what is asked for after samples that have been learned from."""
    running = tuple(each.executors for each in samples)
    own, part = running[place], parameters.path.parts[place]
    if own < part.executors_min:
        why = f"at least {part.executors_min} executors are to run"
        return OperatorRequest(part.component, part.executors_min - own, "asked", why)
    if own > part.executors_max:
        why = f"{own} executors run, more than the {part.executors_max} that it knows of"
        return OperatorRequest(part.component, 0, "held", why)
    if any(each.paused for each in samples):
        why = "the sample says nothing: the topology paused"
        return OperatorRequest(part.component, 0, "held", why)
    assert state.season is not None  # noqa: S101  # it was made when it learned
    choice = _planned(samples, state.season, state.until_s, parameters)
    action = choice.executors[place] - own
    if parameters.guard and state.saturated >= 2 and action <= 0:
        if own >= part.choices[-1]:
            why = f"the executors are saturated, but there are {part.executors_max} at most"
            return OperatorRequest(part.component, 0, "limited", why)
        more = stepped(part.choices, own, 1) - own
        return OperatorRequest(part.component, more, "asked", "the executors were saturated twice")
    why = f"{choice.cost:.4g} is the least cost to come, {choice.cost_stay:.4g} that of staying"
    cost, stay = choice.cost, choice.cost_stay
    return OperatorRequest(part.component, action, "asked" if action else "kept", why, cost, stay)


@lru_cache(maxsize=64)
def _planned(
    samples: tuple[OperatorSample, ...], season: Season, until_s: float, parameters: RollingParameters
) -> Choice:
    """Return what is cheapest for the path; once, for managers that share samples and have learned the same.

    Args:
        samples: (n_parts,) of the components of the path.
        season: What was learned from them.
        until_s: Until when, s.
        parameters: Of the manager.
    """
    lengths, ahead_s = stages_ahead(parameters.horizon_s, parameters.period_s)
    rates = season.forecast(until_s + np.array(ahead_s), parameters.season)
    backlog = 0.0
    for each, part in zip(samples, parameters.path.parts, strict=True):
        passed_s = each.until_s - each.from_s
        more = (each.arrival_rate - part.served(each.executors)) * passed_s
        backlog = max(backlog, (each.backlog + more) / part.per_item)
    running = tuple(each.executors for each in samples)
    if backlog * 1000.0 < parameters.path.bound_ms * parameters.path.capacity(running):
        backlog = 0.0  # it waits for less than the bound
    ahead = Ahead(rates, lengths, math.sqrt(season.noise), backlog)
    return cheapest(running, ahead, parameters)
