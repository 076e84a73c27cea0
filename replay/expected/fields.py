"""Texts as times and numbers, strictly and for whole columns at once.

A time is `YYYY-MM-DD HH:MM:SS` and a real one; a number is a finite decimal number. What is usual takes the
quick way; only what is not is looked at one by one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # pyarrow ships no types

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

#: What stands for a time that cannot be read.
NO_TIME = np.iinfo(np.int64).min
_TIME_LENGTH = 19
_SEPARATORS = {4: "-", 7: "-", 10: " ", 13: ":", 16: ":"}
_DIGITS = [place for place in range(_TIME_LENGTH) if place not in _SEPARATORS]
_USUAL_NUMBER = r"^-?[0-9]{1,9}(\.[0-9]{1,9})?$"
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_DAY_S = 86_400


def seconds(texts: pa.Array) -> IntArray:
    """Return seconds since 1970 of times, read as UTC; `NO_TIME` for what is none.

    Args:
        texts: (n,) strings, null allowed.
    """
    result = np.full(len(texts), NO_TIME, dtype=np.int64)
    fitting = pc.fill_null(pc.equal(pc.binary_length(texts), _TIME_LENGTH), False)
    where = np.flatnonzero(fitting.to_numpy(zero_copy_only=False))
    if where.size == 0:
        return result
    whole = texts.filter(fitting)
    # a filtered array is a copy, and the bytes of equally long texts lie one after the other
    data = np.frombuffer(whole.buffers()[2], dtype=np.uint8, count=where.size * _TIME_LENGTH)
    letters = data.reshape(-1, _TIME_LENGTH)
    digits = letters[:, _DIGITS] - ord("0")  # unsigned: what is before 0 becomes large
    good = (digits <= 9).all(axis=1)
    for place, sign in _SEPARATORS.items():
        good &= letters[:, place] == ord(sign)
    numbers = digits.astype(np.int64)
    year = numbers[:, :4] @ np.array([1000, 100, 10, 1])
    month, day, hour, minute, second = (numbers[:, 4 + 2 * k] * 10 + numbers[:, 5 + 2 * k] for k in range(5))
    good &= (year >= 1) & (month >= 1) & (month <= 12) & (hour < 24) & (minute < 60) & (second < 60)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = _MONTH_DAYS[np.where(good, month, 0)] + (leap & (month == 2))
    good &= (day >= 1) & (day <= longest)
    values = _days(year, month, day) * _DAY_S + hour * 3600 + minute * 60 + second
    result[where[good]] = values[good]
    return result


def _days(year: IntArray, month: IntArray, day: IntArray) -> IntArray:
    """Return days since 1970 in the Gregorian calendar; years begin in March, so that leap days come last."""
    shifted = year - (month <= 2)
    in_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + in_year - 719_468


def numbers(texts: pa.Array) -> FloatArray:
    """Return finite decimal numbers; NaN for what is none.

    Args:
        texts: (n,) strings without nulls.
    """
    usual = pc.match_substring_regex(texts, _USUAL_NUMBER)
    known: BoolArray = usual.to_numpy(zero_copy_only=False)
    if known.all():
        quick: FloatArray = pc.cast(texts, pa.float64()).to_numpy()
        return quick
    result = np.full(len(texts), np.nan)
    result[known] = pc.cast(texts.filter(usual), pa.float64()).to_numpy()
    for place in np.flatnonzero(~known).tolist():
        result[place] = _number(texts[place].as_py())
    return result


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        return math.nan
    value = float(text)
    return value if math.isfinite(value) else math.nan
