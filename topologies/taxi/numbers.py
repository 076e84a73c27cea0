"""Numbers as the challenge's files have them: decimal and finite, and nothing else that `float` takes."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_WHOLE_BELOW = 1 << 31


def number(text: str) -> float | None:
    """Return a number, None for what is none: `nan`, `1_000`, digits of other scripts, 1e309."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def whole_number(text: str) -> int | None:
    """Return a whole number of 32 bits, however it is written (`60`, `60.0`, `6e1`), or None."""
    value = number(text)
    return int(value) if value is not None and value.is_integer() and abs(value) < _WHOLE_BELOW else None


def are_numbers(texts: Sequence[str]) -> bool:
    """Return whether `number` takes all texts; quick if it does."""
    try:
        # no sum with a number that is not finite is finite
        finite = isfinite(sum(map(float, texts)))
    except ValueError:
        return False
    return (finite and may_be_plain("".join(texts))) or all(number(text) is not None for text in texts)


def may_be_plain(text: str) -> bool:
    """Return whether finite numbers in a text are decimal ones as soon as `float` takes them."""
    return "_" not in text and text.isascii()
