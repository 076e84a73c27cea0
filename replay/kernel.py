"""Query 1 over one block of trips: the work of one Spark task."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.query1 import STATE_RANKS, TOP, Ranked, RouteWindow, challenge_row

if TYPE_CHECKING:
    from collections.abc import Iterator

MINUTE_S = 60

#: Columns of the kernel's answer in Spark's notation; `kind` is instant, minute or change.
ANSWER_SCHEMA = (
    "block bigint, kind string, line bigint, time_s bigint, trips bigint, "
    "routes array<string>, counts array<bigint>, tied array<string>, row string"
)
_ARROW = pa.schema(
    [
        ("block", pa.int64()),
        ("kind", pa.string()),
        ("line", pa.int64()),
        ("time_s", pa.int64()),
        ("trips", pa.int64()),
        ("routes", pa.list_(pa.string())),
        ("counts", pa.list_(pa.int64())),
        ("tied", pa.list_(pa.string())),
        ("row", pa.string()),
    ]
)


class Trip(NamedTuple):
    """One trip of the block; `history` trips only prepare the state and are not answered."""

    line: int
    time_s: int
    route: str
    pickup: str
    dropoff: str
    history: bool


class Answer(NamedTuple):
    """State of the query at one moment, or one row of its output.

    Attributes:
        kind: `instant`: state after the last trip of a drop-off instant; `minute`: state with the clock at
            the end of a whole minute in which trips ended; `change`: a row of the challenge's output.
        line: Line of the last trip taken in.
        time_s: Clock in seconds.
        trips: Trips in the window.
        routes: Routes of ranks 1 to 11 (10 for a change), best first.
        counts: Their counts.
        tied: For a state with 11 ranks: every route with as many trips as rank 11's, in alphabetical order.
        row: For a change: the challenge's output row without its delay.
    """

    kind: str
    line: int
    time_s: int
    trips: int
    routes: list[str]
    counts: list[int]
    tied: list[str]
    row: str | None


def answers(trips: list[Trip]) -> Iterator[Answer]:
    """Run query 1 over the trips of one block, in stream order, and yield its answers in order."""
    window = RouteWindow()
    top: list[str] = []
    for place, trip in enumerate(trips):
        window.add(trip.line, trip.time_s, trip.route)
        following = trips[place + 1] if place + 1 < len(trips) else None
        if trip.history and following is not None and following.history:
            continue
        ranked = window.ranks()
        previous, top = top, [entry.route for entry in ranked[:TOP]]
        if trip.history:
            continue
        if top != previous:
            yield _change(trip, ranked, len(window))
        if following is None or following.time_s > trip.time_s:
            yield _state("instant", trip.line, trip.time_s, window)
        minute_s = -(-trip.time_s // MINUTE_S) * MINUTE_S
        if following is None or following.time_s > minute_s:
            window.advance(minute_s)
            yield _state("minute", trip.line, minute_s, window)


def solve_block(table: pa.Table) -> pa.Table:
    """Run query 1 over one block, for `applyInArrow`.

    Args:
        table: Columns block, line, dropoff_s, route, pickup, dropoff, history; one block, any order.

    Returns:
        Columns as in `ANSWER_SCHEMA`.
    """
    ordered = table.sort_by("line")
    columns = [
        ordered[name].to_pylist() for name in ("line", "dropoff_s", "route", "pickup", "dropoff", "history")
    ]
    trips = [Trip(*fields) for fields in zip(*columns, strict=True)]
    block = ordered["block"][0].as_py()
    return pa.Table.from_pylist(
        [{"block": block, **answer._asdict()} for answer in answers(trips)], schema=_ARROW
    )


def _change(trip: Trip, ranked: list[Ranked], trips: int) -> Answer:
    best = ranked[:TOP]
    return Answer(
        kind="change",
        line=trip.line,
        time_s=trip.time_s,
        trips=trips,
        routes=[entry.route for entry in best],
        counts=[entry.count for entry in best],
        tied=[],
        row=challenge_row(trip.pickup, trip.dropoff, best),
    )


def _state(kind: str, line: int, time_s: int, window: RouteWindow) -> Answer:
    ranked = window.ranks()
    return Answer(
        kind=kind,
        line=line,
        time_s=time_s,
        trips=len(window),
        routes=[entry.route for entry in ranked],
        counts=[entry.count for entry in ranked],
        tied=window.routes_with(ranked[-1].count) if len(ranked) == STATE_RANKS else [],
        row=None,
    )
