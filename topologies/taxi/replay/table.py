"""A trips table in Parquet as lines of the 17 columns, in the order of its row numbers."""

from __future__ import annotations

import heapq
import json
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise

from topologies.taxi.replay.open_source import fingerprint
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TEXT, _TIME, _COUNT, _NUMBER = pa.string(), pa.timestamp("s"), pa.int32(), pa.float64()

_LINE: dict[str, pa.DataType] = {
    "medallion": _TEXT,
    "hack_license": _TEXT,
    "pickup_s": _TIME,
    "dropoff_s": _TIME,
    "trip_time_in_secs": _COUNT,
    "trip_distance": _NUMBER,
    "pickup_longitude": _NUMBER,
    "pickup_latitude": _NUMBER,
    "dropoff_longitude": _NUMBER,
    "dropoff_latitude": _NUMBER,
    "payment_type": _TEXT,
    "fare_amount": _NUMBER,
    "surcharge": _NUMBER,
    "mta_tax": _NUMBER,
    "tip_amount": _NUMBER,
    "tolls_amount": _NUMBER,
    "total_amount": _NUMBER,
}
"""Columns of a line in their order, by the table's names, and as what each is written."""

_COLUMNS = ["n", *_LINE]
_BATCH = 2_048
_CACHED_NUMBERS = 65_536


class TableSource:
    """The rows of a finished trips table; of each day it holds one batch at most.

    Args:
        folder: The table's folder.

    Raises:
        RowsError: It is none, is not finished, or lacks columns.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        summary = self._summary()
        self._days = self._files()
        self.rows: int | None = sum(pq.read_metadata(path).num_rows for day in self._days for path in day)
        if self.rows != summary["rows"]:
            raise RowsError(f"{folder} holds {self.rows} rows, its summary.json says {summary['rows']}")
        if not self.rows:
            raise RowsError(f"{folder} holds no rows")
        text = json.dumps(summary, sort_keys=True).encode()
        self.fingerprint = fingerprint(folder.name, self.rows, text)
        self._done = 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines in the order of `n`.

        Raises:
            RowsError: A file cannot be read, or the numbers are not 1, 2, 3, ...
        """
        self._done = 0
        days = [day for day in map(_Day, self._days) if day.next_n is not None]
        waiting = [(day.next_n or 0, index) for index, day in enumerate(days)]
        heapq.heapify(waiting)
        while waiting:
            n, index = heapq.heappop(waiting)
            day = days[index]
            if n != self._done + 1:
                raise RowsError(f"{day.path}: row {n} comes where row {self._done + 1} was to come")
            # mostly days follow each other; rows of several days may also alternate
            for line in day.lines_before(waiting[0][0] if waiting else None):
                self._done += 1
                yield line
            if day.next_n is not None:
                heapq.heappush(waiting, (day.next_n, index))

    def share(self) -> float:
        """Return how much of the table has been read, 0 to 1."""
        return self._done / (self.rows or 1)

    def _summary(self) -> dict[str, object]:
        if not (self._folder / "_SUCCESS").is_file():
            msg = f"{self._folder} is no finished trips table: it has no _SUCCESS, as when its job was killed"
            raise RowsError(msg)
        path = self._folder / "summary.json"
        try:
            summary = json.loads(path.read_bytes())
        except OSError as error:
            msg = f"{self._folder} is no finished trips table: summary.json: {error.strerror or error}"
            raise RowsError(msg) from error
        except ValueError as error:
            raise RowsError(f"{path} is no JSON: {error}") from error
        if not isinstance(summary, dict) or summary.get("kind") != "trips" or "rows" not in summary:
            raise RowsError(f"{path}: this is no trips table (kind `trips`, with its rows)")
        return summary

    def _files(self) -> list[list[Path]]:
        """Return the files of each day, both in their order, after a look at their columns."""
        days = []
        for day in sorted(self._folder.glob("day=*")):
            files = sorted(path for path in day.glob("*.parquet") if path.name[0] not in "._")
            for path in files:
                _check_columns(path)
            if files:
                days.append(files)
        return days


class _Day:
    """The rows of one day, batch by batch.

    Attributes:
        path: The file at hand.
        next_n: Number of its next row; None behind the last one.
    """

    def __init__(self, files: list[Path]) -> None:
        self.path = files[0]
        self._files = files
        self._batches = self._read(_COLUMNS)
        self._numbers: list[int] = []
        self._lines: list[bytes] = []
        self._at = 0
        # the first number alone: a table of a year is not to hold a batch of each day from the start
        first = next(self._read(["n"], 1), None)
        self.next_n: int | None = None if first is None else first.column("n")[0].as_py()

    def lines_before(self, limit: int | None) -> Iterator[bytes]:
        """Yield its lines up to the first gap in the numbers, and before row `limit`."""
        number = self.next_n
        while number is not None and number == self.next_n and number != limit:
            if self._at == len(self._numbers):
                self._load()
            yield self._lines[self._at]
            number += 1
            self._at += 1
            if self._at == len(self._numbers):
                self._load()
            self.next_n = self._numbers[self._at] if self._numbers else None

    def _load(self) -> None:
        batch = next(self._batches, None)
        self._at = 0
        self._numbers = [] if batch is None else batch.column("n").to_pylist()
        self._lines = [] if batch is None else _lines(batch, self.path)

    def _read(self, columns: list[str], size: int = _BATCH) -> Iterator[pa.RecordBatch]:
        for path in self._files:
            self.path = path
            try:
                with pq.ParquetFile(path) as file:
                    yield from (batch for batch in file.iter_batches(size, columns=columns) if batch.num_rows)
            except (OSError, pa.ArrowException) as error:
                raise RowsError(_unreadable(path, error)) from error


def _lines(batch: pa.RecordBatch, path: Path) -> list[bytes]:
    """Return the rows of a batch as lines."""
    columns = [_texts(batch.column(name), form) for name, form in _LINE.items()]
    lines = [",".join(fields).encode() for fields in zip(*columns, strict=True)]
    for number, line in zip(batch.column("n").to_pylist(), lines, strict=True):
        if b"\n" in line:
            raise RowsError(f"{path}, row {number}: a line feed in a text")
    return lines


def _texts(column: pa.Array, form: pa.DataType) -> list[str]:
    if form == _NUMBER:
        return ["" if number is None else _number(number) for number in column.to_pylist()]
    texts = pc.cast(column.cast(pa.int64()).cast(_TIME) if form == _TIME else column, _TEXT)
    return ["" if text is None else text for text in texts.to_pylist()]


_number: Callable[[float], str] = lru_cache(_CACHED_NUMBERS)(repr)  # amounts repeat, coordinates less so


def _check_columns(path: Path) -> None:
    """Refuse a file without the columns of a trips table, or with other types."""
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        raise RowsError(_unreadable(path, error)) from error
    missing = [name for name in _COLUMNS if name not in schema.names]
    if missing:
        raise RowsError(f"{path}: no trips table, columns are missing: {', '.join(missing)}")
    for name in _COLUMNS:
        kind, form = schema.field(name).type, _LINE.get(name, pa.int64())
        fits = {_TEXT: pa.types.is_string, _NUMBER: pa.types.is_floating}.get(form, pa.types.is_integer)
        if not fits(kind):
            raise RowsError(f"{path}: no trips table, column {name} is {kind}")


def _unreadable(path: Path, error: Exception) -> str:
    return f"{path} cannot be read: {' '.join(str(error).split())}"
