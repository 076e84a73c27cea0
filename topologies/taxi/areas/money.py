"""Money as whole numbers: cents, and half cents for medians."""

from __future__ import annotations

import math

from topologies.taxi.numbers import number

MOST_CENTS = 1 << 52
"""Fare and tip that come to so much, or to so much below zero, are no money but a fault."""


def cents(text: str) -> int | None:
    """Return dollars as whole cents (times 100, rounded half to even), None for no finite decimal number."""
    value = number(text)
    if value is None:
        return None
    hundredfold = value * 100
    return round(hundredfold) if math.isfinite(hundredfold) else None


def paid(fare: str, tip: str) -> int | None:
    """Return fare and tip together as whole cents, None when one is no number or the sum is no money."""
    fare_cents, tip_cents = cents(fare), cents(tip)
    if fare_cents is None or tip_cents is None or abs(fare_cents + tip_cents) >= MOST_CENTS:
        return None
    return fare_cents + tip_cents


def dollars(half_cents: int) -> str:
    """Return an amount in dollars with three digits; each half cent is exact below 2^43 dollars."""
    return f"{half_cents / 200:.3f}"
