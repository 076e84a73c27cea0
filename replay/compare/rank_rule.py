"""When two states count as equal: ranked routes with counts, or ranked areas with profitabilities.

Strictly, if they are the same: an engine that works in the order of the stream has no choice. But ties
decide the order of almost every state, and engines that work in parallel may order equal entries in any way.
With free ties two states are equal if the levels agree rank by rank, every entry stands there with what it
really has, and those of the last rank's level are any of the ones that have it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from replay.expected.query1 import STATE_RANKS, TOP

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rank(NamedTuple):
    """A route or an area.

    Attributes:
        name: For example `161.170-160.170`, `311.315`.
        level: What it is ranked by, as text: the count of trips, or the profitability.
        values: All that is known of it, as text: two are equal if these are.
    """

    name: str
    level: str
    values: str


class Query(NamedTuple):
    """Words of a query."""

    entry: str
    level: str
    none: str


ROUTES = Query("route", "count", "(no route)")
AREAS = Query("area", "profitability", "(no area)")


def route_rank(route: str, count: int) -> Rank:
    """Return a route with its count of trips."""
    return Rank(route, f"{count}", f"{count} trips")


def area_rank(area: str, empty: int, median: float, profitability: float) -> Rank:
    """Return an area with its empty taxis and values in dollars.

    Values are compared as they are written: medians to a tenth of a cent, profitabilities to a millionth of a
    dollar.
    """
    level = f"{round(profitability * 1_000_000) / 1_000_000:.6f}"
    return Rank(area, level, f"{round(median * 1000) / 1000:.3f}/{empty} = {level}")


def parse_routes(value: object) -> list[Rank] | None:
    """Read a parsed JSON value, a list of [route, count]; None if it is something else."""
    if not isinstance(value, list) or not all(isinstance(entry, list) and len(entry) == 2 for entry in value):
        return None
    if not all(isinstance(route, str) and _is_count(count) for route, count in value):
        return None
    return [route_rank(*entry) for entry in value]


def parse_areas(value: object) -> list[Rank] | None:
    """Read a parsed JSON value, a list of [area, empty, median, profitability]; None if it is something else.

    The amounts may be numbers or texts.
    """
    if not isinstance(value, list) or not all(isinstance(entry, list) and len(entry) == 4 for entry in value):
        return None
    ranks = []
    for area, empty, *amounts in value:
        median, profitability = map(_dollars, amounts)
        if not isinstance(area, str) or not _is_count(empty) or not math.isfinite(median + profitability):
            return None
        ranks.append(area_rank(area, empty, median, profitability))
    return ranks


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _dollars(amount: object) -> float:
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        return math.nan
    try:
        return float(amount)
    except ValueError:
        return math.nan


def difference(
    query: Query, expected: Sequence[Rank], got: Sequence[Rank], *, free_ties: bool, tied: Sequence[str] = ()
) -> str | None:
    """Say how a state differs from the expected one.

    Args:
        query: Its words.
        expected: Ranks 1 to 11, best first, perhaps with all entries level with rank 11 behind them; fewer if
            fewer are listed.
        got: The engine's, best first: of areas ten or eleven, of routes eleven.
        free_ties: Whether entries of one level may come in any order, and any of those of the last rank's
            may be there.
        tied: Names of further entries that have what rank 11 has.

    Returns:
        One sentence, or None if the states are equal.
    """
    ranks = min(len(expected), STATE_RANKS)
    if len(got) != ranks and (query is ROUTES or len(got) != min(ranks, TOP)):
        return f"{ranks} ranks expected, {len(got)} found"
    true = {each.name: each for each in (*(expected[-1]._replace(name=name) for name in tied), *expected)}
    found: set[str] = set()
    for rank, (want, have) in enumerate(zip(expected, got, strict=False), start=1):
        if have.level != want.level:
            return f"rank {rank} has {query.level} {have.level} instead of {want.level}"
        if not free_ties and have.name != want.name:
            return f"rank {rank} is {query.entry} {have.name} instead of {want.name}"
        if have.name in found:
            return f"{query.entry} {have.name} holds two ranks"
        found.add(have.name)
        other = true.get(have.name)
        if other != have:
            return f"{query.entry} {have.name} is given {have.values}, " + (
                f"it has {other.values}" if other is not None else "it belongs to no such rank"
            )
    return None


def show(query: Query, state: Sequence[Rank]) -> str:
    """Return a state as one line, best first."""
    joint = " x " if query is ROUTES else " "
    shown = (f"{each.name}{joint}{each.level if query is ROUTES else each.values}" for each in state)
    return ", ".join(shown) or query.none
