"""The trail of a row: when the components took it and passed it on, as one text, since tuples are flat."""

from __future__ import annotations

import time

STAMPS = (
    "parser_in",
    "parser_out",
    "filterByCoordinates_in",
    "filterByCoordinates_out",
    "computeRouteID_in",
    "computeRouteID_out",
    "countByWindow_in",
    "countByWindow_clock",
    "countByWindow_out",
    "partialRank_in",
    "partialRank_out",
    "globalRank_in",
)
"""Stamps in the order in which components append them; `countByWindow_clock`: the metronome's half came."""


def now_us() -> int:
    """Return the time as unix microseconds."""
    return time.time_ns() // 1_000


def extended(trail: str, *moments_us: int) -> str:
    """Return a trail with further moments (unix microseconds) at its end."""
    return " ".join((trail, *map(str, moments_us)))


def parted(trail: str) -> tuple[int, str]:
    """Return the source's emit (unix microseconds), and the stamps as microseconds after it in one text."""
    emit_us, *stamps = map(int, trail.split())
    return emit_us, " ".join(str(stamp - emit_us) for stamp in stamps)


def numbered(trail: str, emit: int) -> str:
    """Return the source's trail with the number of the emit behind its time."""
    return f"{trail} {emit}"


def unnumbered(trail: str) -> tuple[int, str]:
    """Return the number of the emit, and the trail without it."""
    emit_us, _, rest = trail.partition(" ")
    number, space, stamps = rest.partition(" ")
    return int(number), f"{emit_us}{space}{stamps}"
