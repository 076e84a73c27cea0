"""Lines of text to trips, a block at a time; each line that is none comes with its reason."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise

from replay.text_columns import seconds
from replay.trips.layouts import NAMES, SENML, TIMES, Layout
from replay.trips.raw import COLUMNS, NAME_TYPE, RawColumns, columns_of_csv
from replay.trips.senml import columns_of_senml
from replay.trips.table import AMOUNTS, COORDINATES, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

    _Times = Mapping[str, tuple[IntArray, BoolArray]]

EVENT = "event"
_TRIP_TIME = "trip_time_in_secs"
_INT32 = 2**31
_MICRO = 1e6


@dataclass(frozen=True)
class Block:
    """What became of a block's lines.

    Attributes:
        trips: The trips in the order of their lines, all columns of the table but `n`.
        rejects: Line (from 1, within the block), reason and text of each line that is no trip, ascending.
        skipped: Lines that are none by their nature, counted: `header`, `start` (of a ride).
    """

    trips: pa.Table
    rejects: list[tuple[int, str, str]]
    skipped: dict[str, int]


def read_block(data: bytes, layout: Layout, *, first: bool) -> Block:
    """Read whole lines of a file.

    Args:
        data: The lines; the last one may lack its end.
        layout: How they are to be read.
        first: Whether they are the file's first, where a header may stand.
    """
    data = _plain(data)
    header = _header_lines(data, layout) if first else 0
    body = data.split(b"\n", header)[header] if header else data
    raw = columns_of_senml(body) if layout == SENML else columns_of_csv(body, layout)
    times = {name: seconds(_whole(raw.texts[name])) for name in TIMES}
    reason, starts = _judge(raw, times)
    kept = np.flatnonzero((reason == "") & ~starts)
    turned = np.flatnonzero(reason != "")
    rejects = sorted([*raw.rejects, *zip(raw.line[turned].tolist(), reason[turned].tolist(), strict=True)])
    skipped = {"header": header, "start": int(starts.sum())}
    return Block(
        trips=_trips(raw, times, None if len(kept) == len(reason) else kept),
        rejects=[
            (header + line, why if text else COLUMNS, text)
            for (line, why), text in zip(rejects, _texts(body, [line for line, _ in rejects]), strict=True)
        ],
        skipped={name: count for name, count in skipped.items() if count},
    )


def _plain(data: bytes) -> bytes:
    """Return text that is UTF-8 and has no line ends but line feeds; what is neither becomes a mark."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r").replace(b"\r", b"?")
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _header_lines(data: bytes, layout: Layout) -> int:
    """Return how many lines the header takes: 0, 1, or 2 with a blank line."""
    if layout.header is None:
        return 0
    first, _, rest = data.partition(b"\n")
    if ",".join(field.strip() for field in first.decode().split(",")) != layout.header:
        return 0
    return 2 if rest.startswith(b"\n") else 1


def _judge(raw: RawColumns, times: _Times) -> tuple[np.ndarray, BoolArray]:
    """Return per line why it is no trip (empty if it is one), and whether it is the start of a ride."""
    reason = np.full(len(raw.line), "", dtype=object)
    starts = np.zeros(len(raw.line), dtype=np.bool_)
    if EVENT in raw.texts:
        kinds = raw.texts[EVENT]
        starts = _is(kinds, "START")
        reason[~starts & ~_is(kinds, "END")] = EVENT
    for name, (_, valid) in times.items():
        reason[(reason == "") & ~valid & ~starts] = name
    for name, (values, readable) in raw.numbers.items():
        valid = readable & _whole_numbers(values) if name == _TRIP_TIME else readable
        if not valid.all():
            reason[(reason == "") & ~valid & ~starts] = name
    return reason, starts


def _trips(raw: RawColumns, times: _Times, kept: IntArray | None) -> pa.Table:
    """Return the trips among the lines, all if `kept` is None."""
    rows = len(raw.line) if kept is None else len(kept)
    pickup, dropoff = (times[name][0] for name in TIMES)
    columns: dict[str, pa.Array] = {"pickup_s": pa.array(pickup), "dropoff_s": pa.array(dropoff)}
    for name, (values, _) in raw.numbers.items():
        # events have some places to more digits than the challenge, whose reports of the same rides have six
        six_digits = EVENT in raw.texts and name in COORDINATES
        columns[name] = _nulls(np.rint(values * _MICRO) / _MICRO if six_digits else values)
    columns |= {name: _whole(raw.texts[name]) for name in NAMES if name in raw.texts}
    if "taxi" in raw.texts:
        columns["medallion"] = _hash_names("taxi", raw.texts["taxi"])
        columns["hack_license"] = _hash_names("driver", raw.texts["driver"])
    if kept is not None:
        columns = {name: column.take(pa.array(kept)) for name, column in columns.items()}
    if _TRIP_TIME not in columns:
        columns[_TRIP_TIME] = pc.subtract(columns["dropoff_s"], columns["pickup_s"])
    if "taxi" in raw.texts:
        # such files know nothing of money and distance; zeros and UNK stand for that
        columns |= {name: pa.array(np.zeros(rows)) for name in ("trip_distance", *AMOUNTS)}
        columns["payment_type"] = pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["UNK"])
    names = [name for name in SCHEMA.names if name != "n"]
    arrays = []
    for name in names:
        kind = NAME_TYPE if name in NAMES else SCHEMA.field(name).type
        arrays.append(columns[name].cast(kind) if name in columns else pa.nulls(rows, kind))
    return pa.table(arrays, names=names)


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _is(texts: pa.Array, text: str) -> BoolArray:
    return np.array(pc.fill_null(pc.equal(_whole(texts), text), fill_value=False))


def _whole_numbers(values: FloatArray) -> BoolArray:
    whole: BoolArray = np.isnan(values) | ((np.floor(values) == values) & (np.abs(values) < _INT32))
    return whole


def _nulls(values: FloatArray) -> pa.Array:
    missing = np.isnan(values)
    return pa.array(values, mask=missing) if missing.any() else pa.array(values)


def _hash_names(kind: str, numbers: pa.Array) -> pa.Array:
    """Return names as the challenge has them, for a taxi's or driver's number: MD5, in upper case."""
    encoded = _whole(numbers).dictionary_encode()
    hashes = [
        hashlib.md5(f"{kind}{number}".encode(), usedforsecurity=False).hexdigest().upper()
        for number in encoded.dictionary.to_pylist()
    ]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(hashes, pa.string()))


def _texts(data: bytes, lines: list[int]) -> Iterable[str]:
    """Return the texts of some lines (from 1)."""
    if not lines:
        return []
    ends = np.append(np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")), len(data))
    starts = np.concatenate([[0], ends + 1])
    return [data[starts[line - 1] : ends[line - 1]].decode() for line in lines]
