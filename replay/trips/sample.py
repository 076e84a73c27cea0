"""A small file of the challenge's 17 columns, whole in memory: what the made-up rows are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import csv

from replay.errors import DataError
from replay.trips.table import AMOUNTS, COORDINATES, SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Sample:
    """Trips in the order of their drop-offs, one element per trip.

    Attributes:
        taxi: A number per medallion.
        dropoff_s: Seconds since 1970 of the local time read as UTC.
        duration_s: Drop-off minus pick-up.
        reported_duration_s: The column `trip_time_in_secs`.
        distance: Miles.
        coordinates: Shape (trips, 4): longitude, latitude of the pick-up, then of the drop-off.
        payment: `CSH`, `CRD`, ...
        amounts: Dollars by column; empty where all of them are zero.
    """

    taxi: IntArray
    dropoff_s: IntArray
    duration_s: IntArray
    reported_duration_s: IntArray
    distance: FloatArray
    coordinates: FloatArray
    payment: np.ndarray
    amounts: dict[str, FloatArray]


def read_sample(file: Path) -> Sample:
    """Read a file of 17 columns, plain or gzip.

    Raises:
        DataError: The file is missing or is no such file.
    """
    names = [name for name in SCHEMA.names if name != "n"]
    types = {name: SCHEMA.field(name).type for name in names}
    types |= {"pickup_s": pa.timestamp("s"), "dropoff_s": pa.timestamp("s")}
    try:
        table = csv.read_csv(
            file,
            read_options=csv.ReadOptions(column_names=names),
            convert_options=csv.ConvertOptions(column_types=types),
        )
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"{file}: cannot be read as trips: {error}") from error
    return sample_of(table)


def sample_of(table: pa.Table) -> Sample:
    """Return the sample of a table with the columns of the trips table (without `n`)."""
    taxi = table["medallion"].combine_chunks()
    if not pa.types.is_dictionary(taxi.type):
        taxi = taxi.dictionary_encode()
    pickup, dropoff = (table[name].cast(pa.int64()).to_numpy() for name in ("pickup_s", "dropoff_s"))
    amounts = {name: table[name].to_numpy() for name in AMOUNTS}
    return Sample(
        taxi=taxi.indices.to_numpy(),
        dropoff_s=dropoff,
        duration_s=dropoff - pickup,
        reported_duration_s=table["trip_time_in_secs"].to_numpy(),
        distance=table["trip_distance"].to_numpy(),
        coordinates=np.stack([table[name].to_numpy() for name in COORDINATES], axis=1),
        payment=np.array(table["payment_type"].to_pylist()),
        amounts=amounts if amounts["total_amount"].any() else {},
    )
