"""Lines `milliseconds,{SenML}` as raw columns.

The number before the comma is the drop-off, written by its producer as if New York's local time were that of
a zone 5:30 h before Greenwich: in all real rows it is then the pick-up plus the trip's time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import orjson
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.text_columns import numbers
from replay.trips.layouts import CHALLENGE, NUMBERS
from replay.trips.raw import RawColumns

SENML = "senml"
"""Why a line is turned away that is no such line."""
_ZONE = timedelta(hours=5, minutes=30)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = {"taxi_identifier": "medallion"}


def columns_of_senml(data: bytes) -> RawColumns:
    """Read lines, one by one: each is a small document of its own.

    Args:
        data: UTF-8, lines ended by line feeds; may be empty.
    """
    found: dict[str, list[str | None]] = {name: [] for name in CHALLENGE.columns}
    line: list[int] = []
    rejects: list[tuple[int, str]] = []
    for number, text in enumerate(data.splitlines(), start=1):
        values = _values(text)
        if values is None:
            rejects.append((number, SENML))
            continue
        line.append(number)
        for name, column in found.items():
            column.append(values.get(name) or None)
    columns = {name: pa.array(texts, pa.string()) for name, texts in found.items()}
    return RawColumns(
        texts={name: column for name, column in columns.items() if name not in NUMBERS},
        numbers={name: numbers(columns[name]) for name in NUMBERS},
        line=np.array(line, dtype=np.int64),
        rejects=rejects,
    )


def _values(text: bytes) -> dict[str, str] | None:
    """Return a line's values as texts by column, or None if it is no such line."""
    head, _, body = text.partition(b",")
    try:
        dropoff = _EPOCH + timedelta(milliseconds=int(head)) + _ZONE
        entries = orjson.loads(body)["e"]
        values = {
            _NAMES.get(entry["n"], entry["n"]): str(entry.get("sv", entry.get("v", ""))) for entry in entries
        }
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError):
        return None
    return {**values, "dropoff_datetime": f"{dropoff:%Y-%m-%d %H:%M:%S}"}
