"""The trail of a batch: when the components took it and passed it on, as one text, since tuples are flat."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STAMPS: Mapping[str, tuple[str, ...]] = {
    "1": (
        *("parser_in", "parser_out", "filterByCoordinates_in", "filterByCoordinates_out"),
        *("computeRouteID_in", "computeRouteID_out"),
        *("countByWindow_in", "countByWindow_clock", "countByWindow_out"),
        *("partialRank_in", "partialRank_out", "globalRank_in"),
    ),
    "2": (
        *("parser_in", "parser_out", "filterByCoordinates_in", "filterByCoordinates_out"),
        *("computeAreaID_in", "computeAreaID_out"),
        *("emptyTaxis_in", "emptyTaxis_clock", "emptyTaxis_out"),
        *("profitability_in", "profitability_clock", "profitability_out", "globalAreaRank_in"),
    ),
}
"""Stamps by query, in the order in which components append them; `..._clock`: the clock's part came."""


def extend(trail: str, *moments_us: int) -> str:
    """Return a trail with further moments (unix microseconds) at its end."""
    return " ".join((trail, *map(str, moments_us)))


def latest(trails: Iterable[str]) -> str:
    """Return the trail that ends last: of the shares of a batch, the one that the others waited for."""
    return max(trails, key=lambda trail: int(trail.rsplit(" ", 1)[-1]))


def split_trail(trail: str) -> tuple[int, str]:
    """Return the source's emit (unix microseconds), and the stamps as microseconds after it in one text."""
    emit_us, *stamps = map(int, trail.split())
    return emit_us, " ".join(str(stamp - emit_us) for stamp in stamps)
