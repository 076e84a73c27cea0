"""Profitability of an area, and its order: exact or in whole cents, without fractions."""

from __future__ import annotations

from typing import NamedTuple

_SCALE_BITS = 64


class RankedArea(NamedTuple):
    """An area in the ranking; of two the greater tuple is the better.

    Attributes:
        score: Profitability in half cents, scaled to a whole number: distinct profitabilities have distinct
            scores in the same order, equal ones equal scores.
        freshest: Highest row among the trips that count for the profit and the drop-offs of the empty taxis.
        place: The area's number, negative: of areas that one and the same row made fresh, the lower is first.
        empty: Number of empty taxis, from 1 on.
        half_cents: Profit.
    """

    score: int
    freshest: int
    place: int
    empty: int
    half_cents: int

    @property
    def area(self) -> int:
        """The area's number."""
        return -self.place

    @property
    def dollars(self) -> float:
        """Profitability as it was ranked: the quotient, or where that was cut, what is left of it."""
        if self.score == (self.half_cents << _SCALE_BITS) // self.empty:
            return self.half_cents / (200 * self.empty)
        return (self.score >> _SCALE_BITS) / 200


def rank_exactly(area: int, half_cents: int, empty: int, freshest: int) -> RankedArea:
    """Return an area with its rank.

    Two different fractions of half cents over fewer than 2^32 taxis differ by more than 2^-64, so their
    scores differ by at least 1.
    """
    return RankedArea((half_cents << _SCALE_BITS) // empty, freshest, -area, empty, half_cents)


def rank_in_cents(area: int, half_cents: int, empty: int, freshest: int) -> RankedArea:
    """Return an area ranked by its profitability in whole cents, cut towards zero."""
    whole = abs(half_cents) // (2 * empty)
    score = (2 * whole if half_cents > 0 else -2 * whole) << _SCALE_BITS
    return RankedArea(score, freshest, -area, empty, half_cents)


def half_cents_of(score: int) -> int:
    """Return the half cents of a score that was cut to whole cents."""
    return score >> _SCALE_BITS
