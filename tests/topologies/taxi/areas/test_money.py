"""Money: cents as whole numbers, half cents exact."""

from __future__ import annotations

import pytest

from topologies.taxi.areas.money import cents, dollars


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("3.50", 350), ("0", 0), ("-2.5", -250), ("14", 1_400), ("0.29", 29), ("1e2", 10_000)),
        *(("0.125", 12), ("0.375", 38), ("-0.125", -12)),  # halves go to the even cent
        *(("", None), ("abc", None), ("nan", None), ("inf", None), ("-inf", None), ("1e308", None)),
    ],
)
def test_amounts_are_rounded_to_cents_and_no_amounts_are_told(text: str, expected: int | None) -> None:
    """Times 100, rounded half to even; what is no finite number, in cents too, is None."""
    assert cents(text) == expected


@pytest.mark.parametrize(
    ("half_cents", "text"),
    [(0, "0.000"), (1, "0.005"), (200, "1.000"), (2_701, "13.505"), (-1, "-0.005"), (-501, "-2.505")],
)
def test_dollars_hold_each_half_cent(half_cents: int, text: str) -> None:
    """Three digits, exact, also below zero."""
    assert dollars(half_cents) == text
