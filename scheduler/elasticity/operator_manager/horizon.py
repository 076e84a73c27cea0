"""The cheapest executors of a path over the time to come: dynamic programming backwards from a horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler.base.arrays import FloatArray, frozen

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.path import Path
    from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters

_NORMAL_GRID = np.linspace(-6.0, 6.0, 1201)
_ABOVE = np.array([0.5 * math.erfc(each / math.sqrt(2.0)) for each in _NORMAL_GRID])
_STAGE_GROWTH = 6
"""A stage is as long as a sixth of the time until it, at least a period: the far future is seen coarsely."""


class Ahead(NamedTuple):
    """What is expected.

    Attributes:
        rates: (n_stages,) into the path, tuples per second.
        periods: (n_stages,) how many periods each stage has.
        noise: Standard deviation of a rate relative to what is expected.
        backlog: Tuples that wait now.
    """

    rates: FloatArray
    periods: tuple[int, ...]
    noise: float
    backlog: float


@dataclass(frozen=True)
class Choice:
    """What is cheapest.

    Attributes:
        executors: (n_parts,) of each part from now on; those that run, if a change does not pay.
        cost: Expected until the horizon, in periods of the cost.
        cost_stay: The same if nothing changes now.
    """

    executors: tuple[int, ...]
    cost: float
    cost_stay: float


def stage_lengths(periods: int) -> tuple[int, ...]:
    """Return how many periods each stage has, which add up to all of them."""
    lengths, passed = list[int](), 0
    while passed < periods:
        lengths.append(min(periods - passed, max(1, passed // _STAGE_GROWTH)))
        passed += lengths[-1]
    return tuple(lengths)


@lru_cache(maxsize=64)
def stages_ahead(ahead_s: float, period_s: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return how many periods stages have, and how far ahead the middle of each is, s."""
    lengths = stage_lengths(max(1, round(ahead_s / period_s)))
    ends = np.cumsum(lengths)
    middles_s = (ends - np.array(lengths) / 2.0) * period_s
    return lengths, tuple(middles_s.tolist())


def cheapest(running: tuple[int, ...], ahead: Ahead, parameters: RollingParameters) -> Choice:
    """Return the executors to change to now, if a change pays.

    In each stage executors stay or change to a rung of the path's ladder. The cost of a period is that of a
    model-based manager: being late, executors, and a change, which is late for its pause and for the time
    in which its backlog drains.

    Args:
        running: (n_parts,) executors of each part of the path now, on the ladder or not.
        ahead: What is expected.
        parameters: Of the manager.
    """
    weights, (kept, capacity, shares) = parameters.weights, _columns(parameters.path, running)
    ladder = parameters.path.ladder
    # where even the most executors are late, all are alike, and the fewest would be the cheapest
    most = max(1e-9, float(ladder.kept[-1]))
    rates = np.minimum(np.maximum(ahead.rates, 1e-9), most)[:, None]
    noise = max(ahead.noise, 1e-6)
    late = np.interp((kept / rates - 1.0) / noise, _NORMAL_GRID, _ABOVE)
    periods = np.array(ahead.periods)[:, None]
    staying = periods * (weights.performance * late + weights.resources * shares)
    left = periods[::-1].cumsum()[::-1][:, None]
    waits = np.zeros((len(rates), 1))
    waits[0] = ahead.backlog
    spare = np.maximum(capacity - rates, 1e-9)
    stopped = parameters.pause_s + (parameters.pause_s * rates + waits) / spare
    price = weights.reconfiguration + weights.performance * np.minimum(left, stopped / parameters.period_s)
    moving = price[:, :-1] + staying[:, :-1]
    # a backlog that is there already drains slower the fewer run
    staying[0] += weights.performance * np.minimum(left[0], ahead.backlog / spare[0] / parameters.period_s)
    to_come = np.zeros(len(shares))
    rungs_to_come = to_come[:-1]
    # backwards, in place; numpy finds where the least is several times as fast as the least
    for stage, stay_on in zip(moving[:0:-1], staying[:0:-1], strict=True):
        change = np.add(stage, rungs_to_come, out=stage)
        to_come += stay_on
        np.minimum(to_come, change[change.argmin()], out=to_come)
    stay = float(staying[0, -1] + to_come[-1])
    changed = moving[0] + rungs_to_come
    best = int(changed.argmin())
    if changed[best] < stay and ladder.executors[best] != running:
        return Choice(ladder.executors[best], float(changed[best]), stay)
    return Choice(running, stay, stay)


@lru_cache(maxsize=1024)
def _columns(path: Path, running: tuple[int, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rates that keep the bound, capacities, and shares of all executors that may run.

    Each (n_rungs + 1,): of the rungs of the ladder, then of what runs now.
    """
    ladder = path.ladder
    totals = np.array([sum(each) for each in (*ladder.executors, running)])
    return (
        frozen(np.append(ladder.kept, path.kept(running))),
        frozen(np.append(ladder.capacity, path.capacity(running))),
        frozen(totals / path.executors_max),
    )
