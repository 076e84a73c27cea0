"""Money as whole numbers: cents, and half cents for medians."""

from __future__ import annotations

import math
import re

MOST_CENTS = 1 << 52
"""Fare and tip that come to so much, or to so much below zero, are no money but a fault."""

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def cents(text: str) -> int | None:
    """Return dollars as whole cents (times 100, rounded half to even), None for no finite decimal number."""
    if not _NUMBER.fullmatch(text):  # `float` takes more: `nan`, `1_000`, digits of other scripts
        return None
    hundredfold = float(text) * 100
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
