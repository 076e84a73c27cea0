"""Lines of comma-separated text as raw columns: times and names as texts, numbers as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import csv

from replay.text_columns import numbers
from replay.trips.layouts import NAMES, NUMBERS, Layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

COLUMNS = "columns"
"""Why a line is turned away that has not as many columns as its layout."""
NAME_TYPE = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class RawColumns:
    """Lines that have all columns of their layout, one element per line.

    Attributes:
        texts: Strings by column, names perhaps as dictionaries; null where a text is empty.
        numbers: Values by column (NaN where a text is empty or no number), and which are empty or finite
            numbers.
        line: Number of the line from 1 within its block.
        rejects: Lines that have not all columns, with the reason.
    """

    texts: Mapping[str, pa.Array]
    numbers: Mapping[str, tuple[FloatArray, BoolArray]]
    line: IntArray
    rejects: list[tuple[int, str]] = field(default_factory=list)


def columns_of_csv(data: bytes, layout: Layout) -> RawColumns:
    """Read lines of comma-separated text.

    Args:
        data: UTF-8, lines ended by line feeds; may be empty.
        layout: Its columns.
    """
    try:
        table, rejects = _read(data, layout, pa.float64())
    except pa.ArrowInvalid:
        # at least one text is no number; its line must not take the others with it
        table, rejects = _read(data, layout, pa.string())
    odd = np.array([line for line, _ in rejects], dtype=np.int64)
    lines = np.arange(1, table.num_rows + len(rejects) + 1)
    return RawColumns(
        texts={name: table[name] for name in layout.columns if name not in NUMBERS},
        numbers={name: _values(table[name]) for name in layout.columns if name in NUMBERS},
        line=np.delete(lines, odd - 1),
        rejects=rejects,
    )


def _read(data: bytes, layout: Layout, number: pa.DataType) -> tuple[pa.Table, list[tuple[int, str]]]:
    rejects: list[tuple[int, str]] = []

    def turn_away(row: csv.InvalidRow) -> str:
        rejects.append((row.number, COLUMNS))
        return "skip"

    types = {
        name: number if name in NUMBERS else NAME_TYPE if name in NAMES else pa.string()
        for name in layout.columns
    }
    if not data:
        return pa.table({name: pa.array([], kind) for name, kind in types.items()}), []
    table = csv.read_csv(
        pa.py_buffer(data),
        # one thread knows the numbers of the lines that it turns away
        read_options=csv.ReadOptions(
            column_names=list(layout.columns), use_threads=False, block_size=len(data) + 1
        ),
        parse_options=csv.ParseOptions(
            quote_char=False, ignore_empty_lines=False, invalid_row_handler=turn_away
        ),
        convert_options=csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True, check_utf8=False
        ),
    )
    return table.combine_chunks(), rejects


def _values(column: pa.ChunkedArray) -> tuple[FloatArray, BoolArray]:
    whole = column.combine_chunks()
    if pa.types.is_string(whole.type):
        return numbers(whole)
    values = whole.to_numpy(zero_copy_only=False)
    valid = np.isfinite(values)
    if not valid.all():
        valid |= whole.is_null().to_numpy(zero_copy_only=False)
    return values, valid
