"""Texts of whole columns as times and numbers; what is none is told by row, not by an exception."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise

if TYPE_CHECKING:
    from replay.trips.arrays import BoolArray, FloatArray, IntArray

_LENGTH = len("YYYY-MM-DD HH:MM:SS")
_DIGITS = (0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18)
_MARKS = {4: "-", 7: "-", 10: " ", 13: ":", 16: ":"}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_SIMPLE = "^-?[0-9]{1,15}([.][0-9]{1,15})?$"
"""Numbers that need no look at each alone."""
_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def seconds(texts: pa.Array) -> tuple[IntArray, BoolArray]:
    """Read times `YYYY-MM-DD HH:MM:SS`, nothing shorter or longer.

    Args:
        texts: Strings, nulls allowed.

    Returns:
        Seconds since 1970 of the local time read as UTC (0 where it is none), and which are times.
    """
    long_enough = pc.fill_null(pc.equal(pc.binary_length(texts), _LENGTH), fill_value=False)
    fits = long_enough.to_numpy(zero_copy_only=False)
    values, valid = np.zeros(len(texts), dtype=np.int64), fits.copy()
    if fits.any():
        values[fits], valid[fits] = _from_characters(_characters(texts if fits.all() else texts.filter(fits)))
    return values, valid


def numbers(texts: pa.Array) -> tuple[FloatArray, BoolArray]:
    """Read decimal numbers; blanks around them are passed over.

    Args:
        texts: Strings, nulls allowed.

    Returns:
        The values, NaN for null and for what is no finite number, and which are null or finite numbers.
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


def _characters(texts: pa.Array) -> np.ndarray:
    """Return the bytes of strings of 19 bytes each, shape (19, rows)."""
    _, offsets, data = texts.buffers()
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    first = int(np.frombuffer(offsets, dtype=width)[texts.offset])
    flat = np.frombuffer(data, dtype=np.uint8)[first : first + _LENGTH * len(texts)]
    return np.ascontiguousarray(flat.reshape(-1, _LENGTH).T)


def _from_characters(characters: np.ndarray) -> tuple[IntArray, BoolArray]:
    digit = {place: characters[place] - np.uint8(ord("0")) for place in _DIGITS}
    valid = np.ones(characters.shape[1], dtype=np.bool_)
    for values in digit.values():
        valid &= values <= 9
    for place, mark in _MARKS.items():
        valid &= characters[place] == ord(mark)

    def number(*places: int) -> IntArray:
        total: IntArray = digit[places[0]].astype(np.int32)
        for place in places[1:]:
            total = total * 10 + digit[place]
        return total

    year, month, day = number(0, 1, 2, 3), number(5, 6), number(8, 9)
    hour, minute, second = number(11, 12), number(14, 15), number(17, 18)
    valid &= (year >= 1) & (month >= 1) & (month <= 12)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0)) & (month == 2)
    valid &= (day >= 1) & (day <= _DAYS[np.where(valid, month, 0)] + leap)
    valid &= (hour <= 23) & (minute <= 59) & (second <= 59)
    # days before the month, with years that begin in March so that the leap day comes last
    march_year = year - (month <= 2)
    before_month = (153 * ((month + 9) % 12) + 2) // 5
    days = 365 * march_year + march_year // 4 - march_year // 100 + march_year // 400 + before_month + day
    since_1970 = days.astype(np.int64) - 719_469
    return np.where(valid, since_1970 * 86_400 + hour * 3600 + minute * 60 + second, 0), valid
