"""From one trips table to another: without what no query can use, in the order of the drop-offs."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import parquet as pq

from replay.errors import DataError
from replay.output import replaced_folder
from replay.trips.duplicates import seen_before
from replay.trips.numbering import TEXTS, Numbered, number_densely
from replay.trips.reasons import COLUMNS, DUPLICATE, KEPT, REASONS, reasons
from replay.trips.table import DAY_S, day_folder, day_name, finish, part_files, require_table, write_part
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

SLICE_ROWS = 400_000
"""What one task sorts, unless a quarter of an hour alone has more."""
QUARTER_S = 900


@dataclass(frozen=True)
class CleanSummary:
    """What became of a table's rows: `rows_before` = `rows` + all rejected."""

    rows_before: int
    rows: int
    rejected: dict[str, int]


@dataclass(frozen=True)
class _Slice:
    """A span of drop-offs within a day, and the number that its first row has if no trip is double."""

    files: tuple[Path, ...]
    span: tuple[int, int]
    first: int


def clean(
    spark: SparkSession,
    source: Path,
    out: Path,
    say: Callable[[str], None],
    *,
    slice_rows: int = SLICE_ROWS,
) -> CleanSummary:
    """Write a cleaned copy of a trips table.

    A trip is turned away for the first of these that holds: a value is missing, a coordinate is zero, an end
    lies off both queries' grids, it ends before it begins or takes more than a day, or the same trip has been
    there before. The rest is sorted by drop-off, ties in their order, and numbered anew.

    Args:
        spark: Session.
        source: The table.
        out: Folder of the new one; an earlier one is replaced.
        say: Takes a line about the progress.
        slice_rows: How many rows one task should sort.

    Returns:
        How many rows were turned away, by reason.

    Raises:
        DataError: The source is no complete table, or none of its rows is left.
    """
    require_table(source)
    if out.resolve() == source.resolve():
        raise DataError(f"{out}: the cleaned table cannot take the place of its source")
    files = part_files(source.resolve())  # tasks have working directories of their own
    with replaced_folder(out) as folder:
        say(f"judging the rows of {source}")
        judged = run_tasks(spark, _judge, files)
        counts = Counter[str]()
        for by_reason, _ in judged:
            counts.update(by_reason)
        slices = _slices(files, [quarters for _, quarters in judged], slice_rows)
        say(f"sorting {sum(sum(quarters.values()) for _, quarters in judged):,} rows")
        done = run_tasks(spark, partial(_write, folder), slices)
        number_densely(spark, folder, [numbered for numbered, _ in done])
        counts[DUPLICATE] += sum(duplicates for _, duplicates in done)
        by_day = Counter[int]()
        for piece, (numbered, _) in zip(slices, done, strict=True):
            by_day[piece.span[0] // DAY_S] += numbered.rows
        rows = sum(by_day.values())
        rejected = {reason: counts[reason] for reason in (*REASONS, DUPLICATE) if counts[reason]}
        if not rows:
            listed = ", ".join(f"{reason} {count:,}" for reason, count in rejected.items())
            raise DataError(f"{source}: no row is left: {listed}")
        days = {day_name(day): by_day[day] for day in sorted(by_day)}
        finish(folder, {"rows": rows, "days": days, "rejected": rejected, "source": str(source)})
    return CleanSummary(rows + sum(rejected.values()), rows, rejected)


def _judge(file: Path) -> tuple[Counter[str], Counter[int]]:
    """Return how many rows of a file are turned away by reason, and kept by quarter of an hour."""
    with _reading(file):
        trips = pq.read_table(file, columns=list(COLUMNS), partitioning=None)
    found = reasons(trips)
    by_reason = np.bincount(found + 1, minlength=len(REASONS) + 1)[1:].tolist()
    quarters, rows = np.unique(trips["dropoff_s"].to_numpy()[found == KEPT] // QUARTER_S, return_counts=True)
    return (
        Counter(dict(zip(REASONS, by_reason, strict=True))),
        Counter(dict(zip(quarters.tolist(), rows.tolist(), strict=True))),
    )


def _slices(files: Iterable[Path], quarters: Iterable[Counter[int]], slice_rows: int) -> list[_Slice]:
    """Cut the days into spans with about as many kept rows as asked for, ascending."""
    of_day: dict[int, list[Path]] = {}
    kept: Counter[int] = Counter()
    for file, of_file in zip(files, quarters, strict=True):
        kept.update(of_file)
        for day in {quarter * QUARTER_S // DAY_S for quarter in of_file}:
            of_day.setdefault(day, []).append(file)
    slices: list[_Slice] = []
    before = 0
    for day, with_rows in sorted(of_day.items()):
        begin, end, rows = day * DAY_S, (day + 1) * DAY_S, 0
        for start in range(begin, end, QUARTER_S):
            count = kept[start // QUARTER_S]
            if rows and rows + count > slice_rows:
                slices.append(_Slice(tuple(with_rows), (begin, start), before + 1))
                begin, before, rows = start, before + rows, 0
            rows += count
        slices.append(_Slice(tuple(with_rows), (begin, end), before + 1))
        before += rows
    return slices


def _write(folder: Path, piece: _Slice) -> tuple[Numbered, int]:
    """Write the rows of a slice; return what was written, and how many rows were double."""
    begin, end = piece.span
    within = [("dropoff_s", ">=", begin), ("dropoff_s", "<", end)]
    tables = []
    for file in piece.files:
        with _reading(file):
            tables.append(pq.read_table(file, filters=within, read_dictionary=TEXTS, partitioning=None))
    # one dictionary for all, so that equal names are equal numbers; the order is that of the source's numbers
    trips = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    kept = np.flatnonzero(reasons(trips) == KEPT)
    order = kept[np.argsort(trips["dropoff_s"].to_numpy()[kept], kind="stable")]
    double = seen_before(trips.take(pa.array(order)))
    order = order[~double]
    if not len(order):
        return Numbered(piece.first, 0, ()), int(double.sum())
    cleaned = trips.take(pa.array(order))
    place = cleaned.schema.get_field_index("n")
    n = np.arange(piece.first, piece.first + len(order))
    path = day_folder(folder, begin // DAY_S) / f"part-{begin % DAY_S:05d}.parquet"
    write_part(cleaned.set_column(place, "n", pa.array(n)), path)
    written = Numbered(piece.first, len(order), ((str(path.relative_to(folder)), piece.first),))
    return written, int(double.sum())


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, KeyError) as error:
        fault = str(error).splitlines()[0]  # behind it Arrow lists the columns that there are
        raise DataError(f"{file}: no file of a trips table: {fault}") from error
