"""Money: cents as whole numbers, half cents exact."""

from __future__ import annotations

import pytest

from topologies.taxi.areas.money import cents, dollars, paid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("3.50", 350), ("0", 0), ("-2.5", -250), ("14", 1_400), ("0.29", 29), ("1e2", 10_000)),
        *(("0.125", 12), ("0.375", 38), ("-0.125", -12)),  # halves go to the even cent
        *(("", None), ("abc", None), ("nan", None), ("inf", None), ("-inf", None), ("1e308", None)),
        *(("1_000", None), ("٣", None), (" 4 ", 400), ("+.5", 50), ("5.", 500)),  # decimal numbers alone
    ],
)
def test_amounts_are_rounded_to_cents_and_other_texts_give_none(text: str, expected: int | None) -> None:
    """Times 100, rounded half to even; what is no finite number, in cents too, is None."""
    assert cents(text) == expected


@pytest.mark.parametrize(
    ("fare", "tip", "expected"),
    [
        *(("9.50", "1.25", 1_075), ("9.50", "-10", -50), ("9.50", "x", None), ("", "1", None)),
        *(("45035996273704.94", "0.01", 2**52 - 1), ("45035996273704.94", "0.02", None)),
        *(("-45035996273704.96", "0", None), ("1e300", "-1e300", 0), ("1e300", "0", None)),
    ],
)
def test_fare_and_tip_together_are_money_up_to_a_bound(fare: str, tip: str, expected: int | None) -> None:
    """From 2^52 cents on, above or below zero, they are none."""
    assert paid(fare, tip) == expected


@pytest.mark.parametrize(
    ("half_cents", "text"),
    [(0, "0.000"), (1, "0.005"), (200, "1.000"), (2_701, "13.505"), (-1, "-0.005"), (-501, "-2.505")],
)
def test_dollars_hold_each_half_cent(half_cents: int, text: str) -> None:
    """Three digits, exact, also below zero."""
    assert dollars(half_cents) == text
