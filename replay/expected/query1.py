"""Query 1 of the DEBS 2015 Grand Challenge, the most frequent routes of half an hour: figures and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from replay import grid
from scheduler.base.arrays import IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

_Whole = TypeVar("_Whole", int, IntArray)

WINDOW_S = 1800
TOP = 10
#: One rank more than is published: rank 11 shows which of the published ones are beyond doubt.
STATE_RANKS = TOP + 1
_FIRST = 1_000_000


def route_number(start: _Whole, end: _Whole) -> _Whole:
    """Return one whole number for a route from one cell to another; works on arrays of cells too."""
    return start * _FIRST + end


def route_name(route: int) -> str:
    """Return a route as start and end cell, for example `161.170-160.170`."""
    return f"{grid.name(route // _FIRST)}-{grid.name(route % _FIRST)}"


def challenge_row(pickup: str, dropoff: str, routes: Sequence[str], nulls: str = "per-cell") -> str:
    """Return the challenge's output row without its delay.

    Args:
        pickup: Pick-up time of the trip that changed the ten best.
        dropoff: Its drop-off time.
        routes: Names of the best routes, best first.
        nulls: `per-cell`: `NULL,NULL` for each missing route; `per-route`: one `NULL`.
    """
    missing = "NULL,NULL" if nulls == "per-cell" else "NULL"
    known = [route.replace("-", ",") for route in routes[:TOP]]
    return ",".join([pickup, dropoff, *known, *[missing] * (TOP - len(known))])
