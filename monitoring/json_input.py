"""Reads JSON of other processes: whatever is wrong with it is a `ValueError` with the reason.

The library alone is not enough: text may be nested deeper than the interpreter's stack (`RecursionError`),
and an integer may be too large for a float (`OverflowError`). Neither a znode nor a file
must end a thread by that.
"""

from __future__ import annotations

import json
import math
from typing import Any

_LONGEST_SHOWN = 60


def json_object(content: bytes | str | None) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        content: Its text; None is what ZooKeeper's client gives for a znode that never had any.

    Raises:
        ValueError: With the reason, if it is none.
    """
    if content is None:
        raise ValueError("not JSON: no content")
    try:
        fields = json.loads(content)
    except ValueError as error:
        raise ValueError("not JSON") from error
    except RecursionError as error:
        raise ValueError("not JSON of a sensible depth") from error
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one kind of error for all bad content
    return fields


def finite(value: object) -> float | None:
    """Return a value as a number if it is a finite one that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def number_at(place: str, value: object) -> float:
    """Return a value that has to be a finite number.

    Raises:
        ValueError: It is none; with the place.
    """
    number = finite(value)
    if number is None:
        raise ValueError(f"{place} is not a finite number")
    return number


def amount_at(place: str, value: object) -> float:
    """Return a value that has to be a finite number from 0 on; errors as of `number_at`."""
    number = finite(value)
    if number is None or number < 0:
        raise ValueError(f"{place} is not a finite number from 0 on")
    return number


def list_at(place: str, value: object) -> list[Any]:
    """Return a value that has to be a list; errors as of `number_at`."""
    if not isinstance(value, list):
        raise ValueError(f"{place} is not a list")  # noqa: TRY004 - one kind of error for all bad content
    return value


def describe(value: object) -> str:
    """Return a value for a line of the log: short, and of objects and lists only what they are."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
