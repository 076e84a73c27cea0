"""The response time that the query should come back to: that of the calm, or what its last move promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.adaptation.report.recovery import settled_ms
from replay.analysis.predict import SINK, SOURCE

if TYPE_CHECKING:
    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.moves import Move
    from experiments.adaptation.report.true_network import Change, Epoch
    from formats.site_file import SiteFile


def calm_ms(scenario: ScenarioData) -> float | None:
    """Return the settled response time before the first change, ms, or at the end without one."""
    return settled_ms(scenario.rows, scenario.start_s, _first_change_s(scenario))


def expected_ms(scenario: ScenarioData, change: Change, sites: SiteFile) -> float | None:
    """Return the response time that a phase should come to, end to end.

    It is what the last move since the first change promised, that of an earlier phase included, but not less
    than the calm level: a network that is worse than in the calm may allow no more than was promised, and
    a return to what there was is enough. A phase before itself is no measure, since it may have been bad.

    Returns:
        ms; None if there is no such level: the calm had not settled and nothing moved, or the last move is
        one of which nothing was expected.
    """
    calm = calm_ms(scenario)
    first_s = _first_change_s(scenario)
    moves = [move for move in scenario.moves if first_s <= move.time_s < change.end_s]
    if not moves:
        return calm
    promised = promised_ms(scenario, moves[-1], change.after, sites)
    return None if promised is None else max(promised, calm or 0.0)


def promised_ms(scenario: ScenarioData, move: Move, network: Epoch, sites: SiteFile) -> float | None:
    """Return what a move promised end to end: its expected R, and the ways from and to Redis.

    Args:
        scenario: The scenario.
        move: The move.
        network: True delays, for the ways from and to Redis, of which the planner knows nothing.
        sites: Hosts of the sites, and where Redis is.

    Returns:
        ms; None if the planner expected nothing, or source or sink have no host or no link to Redis.
    """
    hosts = next(each.hosts for each in scenario.rounds if each.time_s == move.time_s)
    ways_ms: list[float | None] = []
    for component in (SOURCE, SINK):
        for place in scenario.places:
            if place.component == component:
                site = sites.hosts.get(hosts.get(place.first_task) or "")
                ways_ms.append(
                    None if site is None else network.between_ms(frozenset((sites.services, site)))
                )
    known_ms = [way_ms for way_ms in ways_ms if way_ms is not None]
    if move.after_ms is None or len(known_ms) < len(ways_ms):
        return None
    return move.after_ms + sum(known_ms)


def _first_change_s(scenario: ScenarioData) -> float:
    return scenario.changes[0].event.time_s if scenario.changes else scenario.end_s
