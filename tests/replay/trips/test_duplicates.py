"""Rows that stand in a table twice."""

from __future__ import annotations

import random

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.trips.duplicates import seen_before


def test_a_row_is_double_if_an_earlier_one_is_equal_in_all_columns_but_n() -> None:
    """Against a set of rows, with few values so that most rows come again; nulls equal nulls, -0 equals 0."""
    seed = 11
    rng = random.Random(seed)
    rows = [
        {
            "n": n,
            "medallion": rng.choice(("a", "b", None)),
            "dropoff_s": rng.choice((1, -1)),
            "fare_amount": rng.choice((0.0, -0.0, 2.5, None)),
        }
        for n in range(300)
    ]
    table = pa.Table.from_pylist(rows)
    table = table.set_column(1, "medallion", table["medallion"].combine_chunks().dictionary_encode())

    found = seen_before(table)

    seen: set[tuple[object, ...]] = set()
    expected = []
    for row in rows:
        key = (row["medallion"], row["dropoff_s"], row["fare_amount"])
        expected.append(key in seen)
        seen.add(key)
    assert found.tolist() == expected, seed


def test_rows_that_differ_in_one_column_are_no_duplicates() -> None:
    """Each row but the last differs from the one before in another column."""
    rows = [(1, 1, 2.5), (2, 1, 2.5), (2, 2, 2.5), (2, 2, 3.5), (2, 2, 3.5)]
    table = pa.table(
        {
            "n": range(len(rows)),
            "medallion": pa.array([str(row[0]) for row in rows]).dictionary_encode(),
            "dropoff_s": [row[1] for row in rows],
            "fare_amount": [row[2] for row in rows],
        }
    )

    assert seen_before(table).tolist() == [False] * 4 + [True]
