"""Asks for the hosts that a learned model says are cheapest in the long run (paper 004, section 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.elasticity.learning.choice import ACTIONS, greedy
from scheduler.elasticity.managers import why_held
from scheduler.elasticity.region_manager.model import RegionModel
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport, RegionRequest

if TYPE_CHECKING:
    from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters


@dataclass(frozen=True, eq=False)
class RegionModelState:
    """Memory of the manager.

    Attributes:
        model: What it has learned; None: nothing yet.
        before: (row, u, f) of the last report; None: there was none.
        until_s: End of its interval, s, so that none is learned from twice; 0: there was none.
    """

    model: RegionModel | None = None
    before: tuple[int, int, int] | None = None
    until_s: float = 0.0


def decide(
    observation: RegionObservation,
    state: RegionModelState,
    parameters: RegionModelParameters,
    seed: int,
) -> tuple[RegionRequest, RegionModelState]:
    """Learn from the interval that has just ended, then ask for the action with the least cost to come.

    Args:
        observation: The last report.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    report = observation.sample
    held = why_held(observation.now_s, report, observation.changed_s, parameters.sample_age_max_s)
    if report is None or held:
        return RegionRequest("" if report is None else report.region, 0, "held", held), state
    if not parameters.hosts_min <= report.active <= parameters.hosts_max:
        known = f"{parameters.hosts_min} to {parameters.hosts_max}"
        why = f"{report.active} hosts are active, but it knows of {known}"
        return RegionRequest(report.region, 0, "held", why), state
    state = learned(state, report, parameters)
    assert state.model is not None  # noqa: S101  # it has just been made
    worth = state.model.worth[state_of(report, parameters)]
    action = greedy(worth)
    scores = float(worth[ACTIONS.index(action)]), float(worth[0])
    why = f"{scores[0]:.4g} is the least cost to come, {scores[1]:.4g} that of staying"
    return RegionRequest(report.region, action, "asked" if action else "kept", why, *scores), state


def state_of(report: RegionReport, parameters: RegionModelParameters) -> tuple[int, int, int]:
    """Return (row, u, f)."""
    row = report.active - parameters.hosts_min
    return row, parameters.level_of(report.utilisation), int(report.idle > 0)


def learned(
    state: RegionModelState, report: RegionReport, parameters: RegionModelParameters
) -> RegionModelState:
    """Return the state after a report that has not been learned from yet; several hosts less count as one."""
    if report.until_s <= state.until_s:
        return state
    model = RegionModel.first(parameters) if state.model is None else state.model
    now = state_of(report, parameters)
    if state.before is not None:
        row, *before = state.before
        action = (now[0] > row) - (now[0] < row)
        model = model.followed((before[0], before[1]), action, now[1:])
        model = model.charged(now, parameters.weights.demand if report.unmet else 0.0, parameters)
    return RegionModelState(model.swept(parameters), now, report.until_s)
