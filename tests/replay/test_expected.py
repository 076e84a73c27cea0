"""Spark's answers against the plain row-by-row reference."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from replay.answers import read_answers
from replay.errors import DataError
from replay.expected import write_expected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def quiet(_: str) -> None:
    """Progress is not looked at."""


def assert_equal(spark: SparkSession, folder: Path, expected: Any) -> None:
    """Check every table of a folder of expected answers."""
    answers = read_answers(spark, folder)
    assert sorted(map(tuple, answers.passed.select("line", "dropoff_s").collect())) == expected.passed
    tops = answers.tops.orderBy("position").select("position", "line", "row").collect()
    assert [tuple(row) for row in tops] == [(p, n, row) for p, (n, row) in enumerate(expected.tops, start=1)]
    instants = {
        row["line"]: (
            row["time_s"],
            row["trips"],
            list(zip(row["routes"], row["counts"], strict=True)),
            row["tied"],
        )
        for row in answers.instants.collect()
    }
    assert instants == expected.instants
    minutes = spark.read.parquet(str(folder / "minutes.parquet")).collect()
    assert {
        row["time_s"]: (row["line"], list(zip(row["routes"], row["counts"], strict=True))) for row in minutes
    } == expected.minutes
    rejects = spark.read.parquet(str(folder / "rejects.parquet")).collect()
    assert {row["line"]: row["reason"] for row in rejects} == expected.rejects
    document = json.loads((folder / "rejects.json").read_text())
    assert document["parser"] | document["filter"] == Counter(expected.rejects.values())


def test_all_real_rows_give_the_answers_of_the_reference(
    spark: SparkSession, real_file: Path, real_lines: list[str], reference: Callable[..., Any], tmp_path: Path
) -> None:
    """Also when blocks of ten minutes and chunks of 997 lines cut the file in many places."""
    summary = write_expected(spark, real_file, tmp_path / "out", quiet, block_s=600, chunk_rows=997)

    assert (summary.rows, summary.valid, summary.output_rows) == (10_004, 9_826, 589)
    assert summary.rejected == {"zero_coordinates": 176, "outside_grid": 2}
    assert_equal(spark, tmp_path / "out", reference(real_lines))


def test_messy_rows_in_many_partitions_give_the_answers_of_the_reference(
    spark: SparkSession,
    line: Callable[..., str],
    messy: Callable[..., list[str]],
    reference: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """Faults of every kind, gaps longer than the window, a plain file cut into blocks of 4 kB.

    The first two trips take one route hours apart: the second changes nothing although its window is new.
    """
    apart = [line(time_s, (1, 1), (2, 2)) for time_s in (1_356_900_000, 1_356_950_000)]
    lines = [*apart, *messy(7, 900)]
    source = tmp_path / "rows.csv"
    source.write_bytes("\r\n".join(lines).encode() + b"\r\n")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    try:
        write_expected(spark, source, tmp_path / "out", quiet, block_s=900, chunk_rows=64)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
        spark.conf.unset("spark.sql.files.openCostInBytes")

    expected = reference(lines)
    assert len(set(expected.rejects.values())) == 7
    assert_equal(spark, tmp_path / "out", expected)


def test_a_second_run_replaces_the_first_and_a_failed_one_leaves_it(
    spark: SparkSession, messy: Callable[..., list[str]], tmp_path: Path
) -> None:
    """A gzip file cut short is refused with the line at which it breaks off."""
    whole = gzip.compress("\n".join(messy(1, 200)).encode())
    source, out = tmp_path / "rows.csv.gz", tmp_path / "out"
    source.write_bytes(whole)
    write_expected(spark, source, out, quiet)
    before = json.loads((out / "summary.json").read_text())
    source.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(DataError, match=r"rows\.csv\.gz: the packed data are cut short after line \d+"):
        write_expected(spark, source, out, quiet)

    assert json.loads((out / "summary.json").read_text()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows.csv.gz"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a,b\nc,d\n",
            "none of 2 lines is a trip report of 17 columns; line 1: it does not have 17 columns",
        ),
        (b"", "the file is empty"),
    ],
)
def test_a_file_of_another_format_is_refused(
    spark: SparkSession, content: bytes, message: str, tmp_path: Path
) -> None:
    source = tmp_path / "rows.csv"
    source.write_bytes(content)

    with pytest.raises(DataError, match=message):
        write_expected(spark, source, tmp_path / "out", quiet)

    assert not (tmp_path / "out").exists()
