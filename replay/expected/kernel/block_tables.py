"""A block's answers as one Arrow table; rows of several kinds share its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.expected.query1 import STATE_RANKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from replay.expected.kernel.ranking import Lists
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

CHUNK = 4096
ANSWER_ARROW = pa.schema(
    {
        "block": pa.int64(),
        "query": pa.int32(),
        # reject, passed, instant, minute, top (an output row), edge (what follows the block's last row)
        "kind": pa.string(),
        "line": pa.int64(),
        "time_s": pa.int64(),
        "trips": pa.int64(),
        "names": pa.list_(pa.string()),
        "counts": pa.list_(pa.int64()),
        "tied": pa.list_(pa.string()),
        "medians": pa.list_(pa.float64()),
        "profitabilities": pa.list_(pa.float64()),
        # a top only: what a row is compared with to see whether it changed the ten best, and the row itself
        "labels": pa.list_(pa.string()),
        "first": pa.bool_(),
        "row": pa.string(),
        # passed only: numbers and drop-offs of many trips in one row, much cheaper than a row for each
        "lines": pa.list_(pa.int64()),
        "times": pa.list_(pa.int64()),
    }
)
"""Columns of a block's answers."""


def rows(block: int, query: int, kind: str, columns: Mapping[str, pa.Array]) -> pa.Table:
    """Return answers of one kind; columns that the kind does not have are null.

    Args:
        block: The block.
        query: 1 or 2.
        kind: See `ANSWER_ARROW`.
        columns: At least one column, all of one length.
    """
    count = len(next(iter(columns.values())))
    fixed = {"block": block, "query": query, "kind": kind}
    arrays = []
    for name, arrow in zip(ANSWER_ARROW.names, ANSWER_ARROW.types, strict=True):
        if name in fixed:
            arrays.append(pa.repeat(pa.scalar(fixed[name], arrow), count))
        elif name in columns:
            arrays.append(columns[name])
        else:
            arrays.append(pa.nulls(count, arrow))
    return pa.table(arrays, schema=ANSWER_ARROW)


def chunks(values: IntArray) -> pa.ListArray:
    """Return (n,) values as lists of at most `CHUNK`."""
    offsets = np.append(np.arange(0, values.size, CHUNK), values.size).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


class Ragged:
    """Lists of different lengths as flat arrays, of which a part can be taken.

    Attributes:
        states: (n,) all lists one after the other.
        chosen: (n,) which entries are taken; all at first.
    """

    def __init__(self, lists: Lists) -> None:
        self.states = np.array(lists.states, dtype=np.int64)
        self._sizes = np.array(lists.sizes, dtype=np.int64)
        self._owner = np.repeat(np.arange(self._sizes.size), self._sizes)

    def all(self) -> BoolArray:
        """Choose every entry."""
        return np.ones(self.states.size, dtype=bool)

    def first(self) -> BoolArray:
        """Choose ranks 1 to 11."""
        starts = np.cumsum(self._sizes) - self._sizes
        return np.arange(self.states.size) - starts[self._owner] < STATE_RANKS

    def tied(self, level: FloatArray) -> BoolArray:
        """Choose the entries level with rank 11, where there is one; `level` is by state."""
        levels = level[self.states]
        ends = np.cumsum(self._sizes) - 1  # behind rank 11 are only entries of its level
        last = levels[ends[self._owner]]
        tied: BoolArray = (self._sizes[self._owner] >= STATE_RANKS) & (levels == last)
        return tied

    def array(self, chosen: BoolArray, values: pa.Array | IntArray | FloatArray) -> pa.ListArray:
        """Return the chosen entries of each list, as their values; one value per chosen entry."""
        sizes = np.bincount(self._owner[chosen], minlength=self._sizes.size)
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
        flat = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
        return pa.ListArray.from_arrays(pa.array(offsets), flat)
