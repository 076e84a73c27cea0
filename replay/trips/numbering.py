"""Dense numbers of rows that are written by many tasks at once.

Each task numbers its rows as if all that stands before it were as many rows as expected. Where fewer came
(lines were turned away, rows were double), the files behind are written again with the right numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import parquet as pq

from replay.trips.table import SCHEMA, write_part
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

#: Kept as dictionaries on the way, which spares writing out all names.
TEXTS = [field.name for field in SCHEMA if pa.types.is_string(field.type)]


@dataclass(frozen=True)
class Numbered:
    """What a task wrote.

    Attributes:
        first: Number that it gave to its first row.
        rows: How many it wrote.
        files: Where, relative to the table, each with the number of its first row.
    """

    first: int
    rows: int
    files: tuple[tuple[str, int], ...]


def number_densely(spark: SparkSession, folder: Path, written: Sequence[Numbered]) -> None:
    """Make the numbers of a table dense from 1.

    Args:
        spark: Session.
        folder: The table.
        written: What each task wrote, in the order of the rows.

    Raises:
        MachineError: A file cannot be written.
    """
    before = accumulate((each.rows for each in written), initial=0)
    shifts = [
        (file, first, 1 + rows - each.first)
        for each, rows in zip(written, before, strict=False)
        for file, first in each.files
        if each.first != 1 + rows
    ]
    run_tasks(spark, partial(_shift, folder), shifts)


def read_part(path: Path) -> pa.Table:
    """Read a file of a table whole, names as dictionaries."""
    # a folder's name is no column here
    return pq.read_table(path, read_dictionary=TEXTS, partitioning=None)


def _shift(folder: Path, piece: tuple[str, int, int]) -> None:
    file, first, shift = piece
    table = read_part(folder / file)
    n = table["n"].to_numpy()
    if n[0] == first:  # else an earlier attempt at this piece has done it
        place = table.schema.get_field_index("n")
        write_part(table.set_column(place, "n", pa.array(n + shift)), folder / file)
