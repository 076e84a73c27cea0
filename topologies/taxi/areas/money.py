"""Money as whole numbers: cents, and half cents for medians."""

from __future__ import annotations

import math


def cents(text: str) -> int | None:
    """Return dollars as whole cents (times 100, rounded half to even), None for no finite number."""
    try:
        hundredfold = float(text) * 100
    except ValueError:
        return None
    return round(hundredfold) if math.isfinite(hundredfold) else None


def dollars(half_cents: int) -> str:
    """Return an amount in dollars with three digits, which hold every half cent exactly."""
    whole, thousandths = divmod(abs(half_cents) * 5, 1_000)
    sign = "-" if half_cents < 0 else ""
    return f"{sign}{whole}.{thousandths:03d}"
