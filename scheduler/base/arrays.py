"""Array types of the decision core, and how arrays are made read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

FIRST_WINDOW = 16
"""Values in the first part of `windows`."""

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def frozen(array: _Array) -> _Array:
    """Return the array after forbidding writes to it."""
    array.setflags(write=False)
    return array


def floats(values: Sequence[float]) -> FloatArray:
    """Return a read-only float vector."""
    return frozen(np.array(values, dtype=np.float64))


def ints(values: Sequence[int]) -> IntArray:
    """Return a read-only index vector."""
    return frozen(np.array(values, dtype=np.int64))


def grouped(keys: Iterable[Hashable]) -> tuple[IntArray, IntArray]:
    """Return where each distinct key occurs first, and (n_keys,) which of these each key equals."""
    known: dict[Hashable, int] = {}
    first: list[int] = []
    member: list[int] = []
    for i, key in enumerate(keys):
        group = known.setdefault(key, len(first))
        if group == len(first):
            first.append(i)
        member.append(group)
    return ints(first), ints(member)


def windows(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield adjoining parts (first, until) of a range, each twice as long as the one before.

    A search that mostly ends early looks at few values then, and a long one takes few steps.
    """
    width = FIRST_WINDOW
    while begin < end:
        yield begin, min(begin + width, end)
        begin, width = begin + width, 2 * width


def plain_numbers(row: Sequence[object] | FloatArray) -> FloatArray | None:
    """Return a row of plain numbers as an array; None if one is of another type or beyond floats.

    Large instances have millions of plain numbers, which a check of each would slow down.
    """
    if not isinstance(row, np.ndarray) and not {type(value) for value in row} <= {int, float}:
        return None
    try:
        return np.asarray(row, dtype=np.float64)
    except OverflowError:
        return None
