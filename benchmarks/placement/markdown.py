"""Tables in Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is left-aligned and whose others are right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def seconds(value: float) -> str:
    """Return a time as people read it: two digits of ms, from 0.1 s on three of s."""
    if math.isnan(value):
        return "-"
    return f"{1000 * value:.2g} ms" if value < 0.0995 else f"{value:.3g} s"


def ratio(value: float) -> str:
    """Return a speed-up with three digits, large ones as powers of ten."""
    if math.isnan(value):
        return "-"
    if value >= 10_000:
        exponent = math.floor(math.log10(value))
        return f"{value / 10**exponent:.1f}e{exponent}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def percent(value: float) -> str:
    """Return a fraction as percent, with decimals where the paper's whole percents would hide something."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.2g} %"
