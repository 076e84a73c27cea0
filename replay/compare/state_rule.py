"""When two states of query 1 count as equal.

Strictly, if they are the same: an engine that works in the order of the stream has no choice. But ties
decide the order of almost every state, and engines that work in parallel may order equal routes in any way.
With free ties two states are equal if the counts agree rank by rank and every route whose count is above rank
11's is present with that count. A route of rank 11's count may be any of those that really have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from replay.expected.query1 import STATE_RANKS

State = Sequence[tuple[str, int]]


def difference(expected: State, tied: Sequence[str], got: State) -> str | None:
    """Say how a state differs from the expected one.

    Args:
        expected: Routes and counts of ranks 1 to 11, best first; fewer if the window holds fewer routes.
        tied: With 11 ranks, all routes that have rank 11's count; else empty.
        got: The engine's routes and counts, best first.

    Returns:
        One sentence, or None if the states are equal.
    """
    counts, got_counts = [count for _, count in expected], [count for _, count in got]
    if len(got) != len(expected):
        return f"{len(expected)} ranks expected, {len(got)} found"
    for rank, (want, have) in enumerate(zip(counts, got_counts, strict=True), start=1):
        if want != have:
            return f"rank {rank} has count {have} instead of {want}"
    last = counts[-1] if len(expected) == STATE_RANKS else 0
    true_counts = {route: count for route, count in expected if count > last} | dict.fromkeys(tied, last)
    found: set[str] = set()
    for route, count in got:
        if route in found:
            return f"route {route} holds two ranks"
        found.add(route)
        if true_counts.get(route) != count:
            other = true_counts.get(route)
            return f"route {route} is given {count} trips, " + (
                f"it has {other}" if other is not None else "it belongs to no such rank"
            )
    return None


def strict_difference(expected: State, got: State) -> str | None:
    """Say how a state differs from the expected one, order within ties included.

    Args:
        expected: Routes and counts of ranks 1 to 11, best first; fewer if the window holds fewer routes.
        got: The engine's routes and counts, best first.

    Returns:
        One sentence, or None if the states are the same.
    """
    if len(got) != len(expected):
        return f"{len(expected)} ranks expected, {len(got)} found"
    for rank, ((route, count), (got_route, got_count)) in enumerate(zip(expected, got, strict=True), start=1):
        if got_count != count:
            return f"rank {rank} has count {got_count} instead of {count}"
        if got_route != route:
            return f"rank {rank} is route {got_route} instead of {route}"
    return None


def is_state(value: object) -> TypeGuard[list[tuple[str, int]]]:
    """Return whether a parsed JSON value is a list of [route, count]."""
    return isinstance(value, list) and all(
        isinstance(entry, list)
        and len(entry) == 2
        and isinstance(entry[0], str)
        and isinstance(entry[1], int)
        and not isinstance(entry[1], bool)
        for entry in value
    )


def show(state: State) -> str:
    """Return a state as one line, `ROUTE x COUNT` best first."""
    return ", ".join(f"{route} x {count}" for route, count in state) or "(no route)"
