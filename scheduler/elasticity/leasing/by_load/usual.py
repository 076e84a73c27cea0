"""What demand is usual at each time of the week, and where that leads from what came last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.learning.season import Season

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.learning.season import SeasonParameters
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import ComponentReading

_LEAST_DAYS = 2.0
"""On fewer days a time of the day was not seen often enough: one may have been a holiday, or a fault."""


def seasons_after(
    seasons: Mapping[str, Season],
    now_s: float,
    components: Sequence[Component],
    readings: Mapping[str, ComponentReading],
    parameters: SeasonParameters,
) -> dict[str, Season]:
    """Return what is known of each group after a round: its components' demand comes and goes together.

    A group without a reading of all its components learns nothing, and is forgotten after a season.

    Args:
        seasons: Before, by group.
        now_s: Time of the round, s.
        components: What is scaled.
        readings: That count.
        parameters: Of what is learned.
    """
    demand: dict[str, float | None] = {}
    for each in components:
        own = readings[each.name].demand_per_s if each.name in readings else None
        before = demand.get(each.group, 0.0)
        demand[each.group] = None if own is None or before is None else before + own
    after = {
        group: season
        for group, season in seasons.items()
        if season.means.shape == (parameters.slots,)
        and (not season.recent or abs(now_s - season.recent[-1][0]) <= parameters.season_s)
    }
    for group, total in demand.items():
        if total is not None:
            after[group] = after.get(group, Season.first(parameters)).seen(now_s, total, parameters)
    return after


def carried_on(
    seen: Sequence[tuple[float, float]], ahead_s: float, season: Season, parameters: SeasonParameters
) -> float | None:
    """Return the demand to provide for: the highest of what was seen relative to what was usual then, at the
    highest that is usual from now on; None if that is not known.

    It is no less than what comes now, whatever is usual, and at most twice the highest that was seen.

    Args:
        seen: (n, 2) times, s, and demand, items per second, the oldest first.
        ahead_s: From the last of them on, s.
        season: What is usual, up to a factor.
        parameters: Of it.
    """
    times_s, demand = np.asarray(seen, dtype=np.float64).T
    steps = int(ahead_s // (parameters.slot_s / 2.0)) + 2
    ahead = np.linspace(times_s[-1], times_s[-1] + ahead_s, steps)
    both = np.concatenate((times_s, ahead))
    usual = season.usual_at(both, parameters)
    if season.days_seen(both, parameters).min() < _LEAST_DAYS or not usual.min() > 0.0:
        return None
    expected = (demand / usual[: len(demand)]).max() * usual[len(demand) :].max()
    return float(max(demand[-1], min(expected, 2.0 * demand.max())))
