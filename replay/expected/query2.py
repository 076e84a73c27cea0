"""Query 2 of the DEBS 2015 Grand Challenge, the most profitable areas: figures and texts.

Money is counted exactly: a median as twice its cents, as that of an even number of trips may be half a cent.
A profitability is the floating-point number nearest to the exact one; no two that can occur share one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.expected.query1 import TOP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import IntArray


def median_text(twice_cents: int) -> str:
    """Return a median in dollars with three digits, which is exact."""
    return f"{twice_cents / 200:.3f}"


def profitability_text(twice_cents: int, empty: int) -> str:
    """Return median / empty taxis in dollars with six digits."""
    return f"{twice_cents / (200 * empty):.6f}"


def whole_cents(twice_cents: IntArray, empty: IntArray) -> IntArray:
    """Return (n,) median / empty taxis in whole cents, cut towards zero."""
    return np.sign(twice_cents) * (np.abs(twice_cents) // (2 * empty))


def cut_text(twice_cents: int, empty: int) -> str:
    """Return median / empty taxis cut to whole cents towards zero, in dollars with six digits."""
    whole = abs(twice_cents) // (2 * empty)
    return f"{(whole if twice_cents > 0 else -whole) / 100:.6f}"


def area_text(
    name: str, empty: int, twice_cents: int, profitability: Callable[[int, int], str] = profitability_text
) -> str:
    """Return an area as the output row has it: `cell,empty,median,profitability`."""
    return f"{name},{empty},{median_text(twice_cents)},{profitability(twice_cents, empty)}"


def challenge_row(pickup: str, dropoff: str, areas: Sequence[str], nulls: str = "per-cell") -> str:
    """Return the challenge's output row without its delay.

    Args:
        pickup: Pick-up time of the trip that changed the ten best.
        dropoff: Its drop-off time.
        areas: The best areas by `area_text`, best first.
        nulls: `per-cell`: four `NULL` for each missing area; `per-route`: one.
    """
    missing = "NULL,NULL,NULL,NULL" if nulls == "per-cell" else "NULL"
    return ",".join([pickup, dropoff, *areas[:TOP], *[missing] * (TOP - len(areas))])
