"""Checks of single values of a file that people write: what is expected instead."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeAlias

from formats.tier import TIERS

_SITE_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
Check: TypeAlias = Callable[[object], str | None]
"""Returns what is expected instead of a value, or None if the value is right."""


def between(least: float, most: float, *, whole: bool = False, below: bool = False) -> Check:
    """Return the check of numbers from `least` to `most`, or to less than that."""
    kind = "a whole number" if whole else "a number"
    expected = f"expected {kind} from {least:g} to {'less than ' if below else ''}{most:g}"

    def check(value: object) -> str | None:
        right = isinstance(value, int) if whole else isinstance(value, int | float)
        if not right or isinstance(value, bool) or not math.isfinite(value):  # type: ignore[arg-type]  # a number
            return expected
        return None if least <= value < most or (value == most and not below) else expected  # type: ignore[operator]

    return check


def site_name(value: object) -> str | None:
    """Say what is expected if it is no name of a site; None if it is one."""
    right = isinstance(value, str) and _SITE_NAME.fullmatch(value)
    return None if right else "expected a name of up to 40 small letters, digits and hyphens, a letter first"


def tier(value: object) -> str | None:
    """The same of a tier."""
    return None if value in TIERS else f"expected one of {', '.join(TIERS)}"


def flag(value: object) -> str | None:
    """The same of true and false."""
    return None if isinstance(value, bool) else "expected true or false"


def two_names(value: object) -> str | None:
    """The same of the names of two sites."""
    right = isinstance(value, list) and len(value) == 2 and not any(site_name(each) for each in value)
    return None if right else "expected the names of two sites"


def plain_table(value: object) -> str | None:
    """The same of a table of texts, numbers and flags."""
    right = isinstance(value, dict) and all(isinstance(each, str | int | float) for each in value.values())
    return None if right else "expected a table of texts, numbers and flags"


def tables(value: object) -> str | None:
    """The same of tables of these."""
    right = isinstance(value, dict) and not any(plain_table(each) for each in value.values())
    return None if right else "expected tables of texts, numbers and flags"


def texts(value: object) -> str | None:
    """The same of a table of texts."""
    right = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return None if right else "expected a table of texts"


def text(value: object) -> str | None:
    """The same of a text."""
    return None if isinstance(value, str) else "expected a text"
