"""Files of four formats to one trips table; lines that are no trips to `rejects`, each with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.errors import DataError
from replay.output import replaced_folder
from replay.trips.blocks import BLOCK_BYTES, FileBlock, blocks_of, count_lines, first_lines, read_lines
from replay.trips.layouts import Layout, recognise
from replay.trips.lines import read_block
from replay.trips.numbering import Numbered, number_densely
from replay.trips.table import DAY_S, day_folder, day_name, finish, write_parquet, write_part
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

REJECTS = "rejects"
REJECTS_SCHEMA = pa.schema(
    [("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("text", pa.string())]
)
_FIRST_LINES = 100


@dataclass(frozen=True)
class FileSummary:
    """What became of the lines of a file: `lines` = `rows` + all rejected + all skipped.

    Attributes:
        file: As the user named it.
        layout: Name of its layout.
        lines: All of them.
        rows: Trips.
        rejected: Lines by reason.
        skipped: Lines that are no trips by their nature: `header`, `start` (of a ride).
    """

    file: str
    layout: str
    lines: int
    rows: int
    rejected: dict[str, int]
    skipped: dict[str, int]


@dataclass(frozen=True)
class _Piece:
    """A block of a file, as the user named it, and where its lines and rows stand."""

    block: FileBlock
    named: str
    layout: Layout
    place: tuple[int, int]
    lines_before: int
    first: int


@dataclass(frozen=True)
class _Done:
    """What a task wrote."""

    numbered: Numbered
    rows_by_day: dict[int, int]
    rejected: dict[str, int]
    skipped: dict[str, int]


def ingest(
    spark: SparkSession,
    files: Sequence[Path],
    out: Path,
    say: Callable[[str], None],
    *,
    layout: Layout | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> list[FileSummary]:
    """Write a trips table of all files, in the order in which they are given, lines in theirs.

    Args:
        spark: Session.
        files: Plain or gzip (`.gz`), each with a layout of its own.
        out: Folder of the table; an earlier one is replaced.
        say: Takes a line about the progress.
        layout: That of all files; by default each one's is recognised by its first lines.
        block_bytes: What one task takes of a plain file.

    Returns:
        One summary per file.

    Raises:
        DataError: A file is missing, empty, damaged or of no known format, or no line of all of them is a
            trip.
    """
    # tasks have working directories of their own
    blocks = [blocks_of(file.resolve(), block_bytes) for file in files]
    layouts = [layout or recognise(str(file), first_lines(file, _FIRST_LINES)) for file in files]
    flat = [(place, block) for place, of_file in enumerate(blocks) for block in of_file]
    with replaced_folder(out) as folder:
        say(f"counting the lines of {len(files)} file{'s' if len(files) > 1 else ''}")
        lines = run_tasks(spark, count_lines, [block for _, block in flat])
        pieces = _pieces(flat, files, layouts, lines)
        say(f"reading {sum(lines):,} lines")
        done = run_tasks(spark, partial(_write, folder), pieces)
        summaries = _summaries(files, pieces, lines, done)
        _require_rows(summaries)
        number_densely(spark, folder, [each.numbered for each in done])
        if not any(summary.rejected for summary in summaries):
            write_parquet(REJECTS_SCHEMA.empty_table(), folder / REJECTS / "part-none.parquet", [])
        finish(folder, _document(summaries, done))
    return summaries


def _pieces(
    flat: Sequence[tuple[int, FileBlock]],
    files: Sequence[Path],
    layouts: Sequence[Layout],
    lines: Sequence[int],
) -> list[_Piece]:
    """Return the tasks; rows are numbered as if each line were one."""
    before = list(accumulate(lines, initial=0))
    pieces: list[_Piece] = []
    started: dict[int, int] = {}
    for number, (place, block) in enumerate(flat):
        started.setdefault(place, number)
        pieces.append(
            _Piece(
                block=block,
                named=str(files[place]),
                layout=layouts[place],
                place=(place, number - started[place]),
                lines_before=before[number] - before[started[place]],
                first=before[number] + 1,
            )
        )
    return pieces


def _write(folder: Path, piece: _Piece) -> _Done:
    """Write the trips and the rejects of a block."""
    n, line = piece.first, piece.lines_before
    files: list[tuple[str, int]] = []
    by_day: Counter[int] = Counter()
    rejected: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for number, data in enumerate(read_lines(piece.block)):
        found = read_block(data, piece.layout, first=line == 0)
        name = f"part-{piece.place[0]:04d}-{piece.place[1]:06d}-{number:06d}.parquet"
        numbered = found.trips.add_column(0, "n", pa.array(np.arange(n, n + found.trips.num_rows)))
        for day, trips in _by_day(numbered):
            path = day_folder(folder, day) / name
            write_part(trips, path)
            files.append((str(path.relative_to(folder)), trips["n"][0].as_py()))
            by_day[day] += trips.num_rows
        if found.rejects:
            write_parquet(
                _rejects(piece.named, line, found.rejects),
                folder / REJECTS / name,
                ["file", "reason"],
            )
            rejected.update(reason for _, reason, _ in found.rejects)
        skipped.update(found.skipped)
        n += found.trips.num_rows
        line += data.count(b"\n")
    return _Done(
        Numbered(piece.first, n - piece.first, tuple(files)), dict(by_day), dict(rejected), dict(skipped)
    )


def _by_day(trips: pa.Table) -> list[tuple[int, pa.Table]]:
    """Cut trips by the day of their drop-off; in each the order stays."""
    days = trips["dropoff_s"].to_numpy() // DAY_S
    different = np.unique(days)
    if len(different) == 1:
        return [(int(different[0]), trips)]
    return [(int(day), trips.take(pa.array(np.flatnonzero(days == day)))) for day in different]


def _rejects(file: str, lines_before: int, rejects: Sequence[tuple[int, str, str]]) -> pa.Table:
    lines, reasons, texts = zip(*rejects, strict=True)
    columns = [[file] * len(lines), [lines_before + line for line in lines], reasons, texts]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, REJECTS_SCHEMA.types, strict=True)]
    return pa.table(arrays, schema=REJECTS_SCHEMA)


def _summaries(
    files: Sequence[Path], pieces: Sequence[_Piece], lines: Sequence[int], done: Sequence[_Done]
) -> list[FileSummary]:
    summaries = []
    for place, file in enumerate(files):
        of_file = [number for number, piece in enumerate(pieces) if piece.place[0] == place]
        rejected, skipped = Counter[str](), Counter[str]()
        for number in of_file:
            rejected.update(done[number].rejected)
            skipped.update(done[number].skipped)
        summaries.append(
            FileSummary(
                file=str(file),
                layout=pieces[of_file[0]].layout.name,
                lines=sum(lines[number] for number in of_file),
                rows=sum(done[number].numbered.rows for number in of_file),
                rejected=dict(rejected.most_common()),
                skipped=dict(skipped),
            )
        )
    return summaries


def _require_rows(summaries: Sequence[FileSummary]) -> None:
    if not any(summary.rows for summary in summaries):
        first = summaries[0]
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in first.rejected.items()) or "none"
        raise DataError(f"{first.file}: none of its {first.lines:,} lines is a trip (rejected: {reasons})")


def _document(summaries: Sequence[FileSummary], done: Sequence[_Done]) -> dict[str, object]:
    by_day: Counter[int] = Counter()
    rejected: Counter[str] = Counter()
    for each in done:
        by_day.update(each.rows_by_day)
        rejected.update(each.rejected)
    return {
        "rows": sum(by_day.values()),
        "days": {day_name(day): by_day[day] for day in sorted(by_day)},
        "rejected": dict(rejected.most_common()),
        "files": [vars(summary) for summary in summaries],
    }
