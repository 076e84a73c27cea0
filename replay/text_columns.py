"""Columns of text as times and numbers, strictly; a text that is neither is marked and spoils no other.

A time is `YYYY-MM-DD HH:MM:SS` of the Gregorian calendar, years 1 to 9999; a number is finite and decimal.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

_TIME = "%Y-%m-%d %H:%M:%S"
_TIME_LENGTH = 19
_YEAR_1_S = -62_135_596_800
"""Year 1 begins here; Arrow's calendar has a year 0, Python's and the challenge's readers have none."""
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_SIMPLE = "^-?[0-9]{1,15}([.][0-9]{1,15})?$"
"""Numbers that Arrow reads; only others are looked at one by one."""


def seconds(texts: pa.Array) -> tuple[IntArray, BoolArray]:
    """Read times.

    Args:
        texts: (n,) strings, nulls allowed.

    Returns:
        (n,) seconds since 1970 of the local time read as UTC (0 where it is none), and (n,) which are times.
    """
    fits = pc.fill_null(pc.equal(pc.binary_length(texts), _TIME_LENGTH), fill_value=False)
    candidates = texts if pc.all(fits).as_py() else pc.if_else(fits, texts, pa.scalar(None, texts.type))
    try:
        times = candidates.cast(pa.timestamp("s"))
        # the cast takes what ISO 8601 allows, which at this length is a T instead of the space
        spelled = pc.invert(pc.match_substring(candidates, "T"))
    except pa.ArrowInvalid:
        # the cast stops at the first text that is no time; this one turns 30 February into another day
        times = pc.strptime(candidates, format=_TIME, unit="s", error_is_null=True)
        spelled = pc.equal(times.cast(texts.type), candidates)
    values = pc.fill_null(times.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    valid = pc.fill_null(pc.and_kleene(spelled, pc.is_valid(times)), fill_value=False)
    known: BoolArray = valid.to_numpy(zero_copy_only=False) & (values >= _YEAR_1_S)
    return np.where(known, values, 0), known


def numbers(texts: pa.Array) -> tuple[FloatArray, BoolArray]:
    """Read decimal numbers; blanks around them do not count.

    Args:
        texts: (n,) strings, nulls allowed.

    Returns:
        (n,) values, NaN for null and for what is no finite number, and (n,) which are null or finite numbers.
    """
    simple = pc.fill_null(pc.match_substring_regex(texts, _SIMPLE), fill_value=True)
    odd = np.flatnonzero(~simple.to_numpy(zero_copy_only=False))
    plain = texts if not len(odd) else pc.if_else(simple, texts, pa.scalar(None, texts.type))
    values = plain.cast(pa.float64()).to_numpy(zero_copy_only=False).copy()
    valid = np.ones(len(texts), dtype=np.bool_)
    for place in odd.tolist():
        text = texts[place].as_py()
        value = float(text) if _NUMBER.fullmatch(text) else math.inf
        valid[place] = math.isfinite(value)
        values[place] = value if valid[place] else math.nan
    return values, valid
