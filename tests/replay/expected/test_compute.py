"""Spark's answers against the plain models."""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from formats.semantics import Semantics, parse_settings
from replay.compare.expected_folder import read_answers
from replay.errors import DataError, MachineError
from replay.expected.compute import solve, write_expected
from replay.expected.considered import judge
from replay.expected.event_blocks import Span, lay_out
from replay.expected.judged import judge_and_store_lines
from replay.expected.query2 import area_text
from replay.expected.raw_trips import TABLE_COLUMNS, from_lines
from replay.grid import name
from replay.trips.table import SCHEMA
from tests.replay.expected.naive_queries import NaiveTrip, answer, areas_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def quiet(_: str) -> None:
    """Progress is not looked at."""


def assert_routes(spark: SparkSession, folder: Path, expected: Any) -> None:
    """Check every table of query 1."""
    answers = read_answers(spark, folder)
    assert sorted(map(tuple, answers.passed.select("line", "dropoff_s").collect())) == expected.passed
    tops = answers.tops.orderBy("position").select("position", "line", "row").collect()
    assert [tuple(row) for row in tops] == [(p, n, row) for p, (n, row) in enumerate(expected.tops, start=1)]
    instants = {
        row["line"]: (
            row["time_s"],
            row["trips"],
            list(zip(row["routes"], row["counts"], strict=True)),
            sorted(row["tied"]),
        )
        for row in answers.instants.collect()
    }
    assert instants == expected.instants
    minutes = spark.read.parquet(str(folder / "minutes.parquet")).collect()
    assert {
        row["time_s"]: (row["line"], list(zip(row["routes"], row["counts"], strict=True))) for row in minutes
    } == expected.minutes
    assert_rejects(spark, folder, expected.rejects)


def assert_rejects(spark: SparkSession, folder: Path, expected: dict[int, str]) -> None:
    rejects = spark.read.parquet(str(folder / "rejects.parquet")).collect()
    assert {row["line"]: row["reason"] for row in rejects} == expected
    document = json.loads((folder / "rejects.json").read_text())
    assert document["parser"] | document["filter"] == Counter(expected.values())
    assert [row["line"] for row in document["rejects"]] == sorted(expected)


def naive_trips(lines: list[str]) -> tuple[list[NaiveTrip], dict[int, str]]:
    """Return what query 2 considers of lines, and the rejects but for those that go back in time."""
    batch = pa.RecordBatch.from_pylist([{"line": n, "text": text} for n, text in enumerate(lines, start=1)])
    rows = judge(from_lines(batch), (2,), Semantics()).to_pylist()
    columns = ("n", "dropoff_s", "pickup_s", "route", "taxi", "start", "end", "cents")
    trips = [NaiveTrip(*(row[name] for name in columns)) for row in rows]
    return trips, {row["n"]: row["reason2"] for row in rows if row["reason2"]}


def assert_areas(spark: SparkSession, folder: Path, lines: list[str]) -> None:
    """Check every table of query 2 against the plain model."""
    trips, rejects = naive_trips(lines)
    expected = answer(trips, areas_at)
    answers = read_answers(spark, folder, query=2)
    assert sorted(row["line"] for row in answers.passed.collect()) == expected.passed
    tops = answers.tops.orderBy("position").collect()
    assert [row["position"] for row in tops] == list(range(1, len(expected.tops) + 1))
    rows = [
        (n, [area_text(name(area), taxis, twice) for area, taxis, twice, _ in ranks])  # type: ignore[arg-type]  # ints
        for n, ranks in expected.tops
    ]
    assert [(row["line"], row["row"].split(",", 2)[2]) for row in tops] == [
        (n, ",".join([*ranks, *["NULL,NULL,NULL,NULL"] * (10 - len(ranks))])) for n, ranks in rows
    ]
    instants = {row["line"]: row["areas"][:11] for row in answers.instants.collect()}
    assert instants == {
        n: [name(area) for area, *_ in ranks[:11]]  # type: ignore[arg-type]  # an int
        for n, ranks in expected.instants.items()
    }
    minutes = spark.read.parquet(str(folder / "query2" / "minutes.parquet")).collect()
    assert {row["time_s"]: row["line"] for row in minutes} == {m: n for m, (n, _) in expected.minutes.items()}
    back = dict.fromkeys(expected.rejected, "time_goes_back")
    assert_rejects(spark, folder / "query2", rejects | back)


def test_all_real_rows_give_the_answers_of_the_reference(
    spark: SparkSession, real_file: Path, real_lines: list[str], reference: Callable[..., Any], tmp_path: Path
) -> None:
    """Also when blocks of ten minutes cut the file in many places."""
    summary = write_expected(spark, real_file, tmp_path / "out", quiet, rows_per_block=1)[1]

    assert (summary.rows, summary.valid, summary.output_rows) == (10_004, 9_826, 589)
    assert summary.rejected == {"zero_coordinates": 176, "outside_grid": 2}
    assert summary.blocks == 6
    assert_routes(spark, tmp_path / "out", reference(real_lines))
    assert not (tmp_path / "out" / "query2").exists()


def test_messy_rows_in_many_partitions_give_the_answers_of_the_models(
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
        write_expected(spark, source, tmp_path / "out", quiet, queries=(1, 2), rows_per_block=40)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
        spark.conf.unset("spark.sql.files.openCostInBytes")

    expected = reference(lines)
    assert len(set(expected.rejects.values())) == 7
    assert_routes(spark, tmp_path / "out", expected)
    assert_areas(spark, tmp_path / "out", lines)


def test_a_trips_table_gives_the_answers_of_its_lines(
    spark: SparkSession, messy: Callable[..., list[str]], tmp_path: Path
) -> None:
    """Files in any order, days in folders; query 2 alone, with other choices than the usual ones."""
    lines = [text for text in messy(5, 300) if reason_of(text) != "parser"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    write_trips(tmp_path / "table", lines)
    semantics = parse_settings(["idle-areas=zero", "q2-emit=values", "nulls=per-route"])
    found = []
    for name_ in ("rows.csv", "table"):
        out = tmp_path / f"out of {name_}"
        summary = write_expected(spark, tmp_path / name_, out, quiet, queries=[2], semantics=semantics)[2]
        tops = read_answers(spark, out, query=2).tops.orderBy("position").collect()
        found.append((replace(summary, file=""), [tuple(row) for row in tops]))

    assert found[0] == found[1]
    assert found[0][0].semantics["idle-areas"] == "zero"
    assert found[0][1]
    with pytest.raises(DataError, match="holds no answers of query 1"):
        read_answers(spark, tmp_path / "out of table")


def reason_of(text: str) -> str | None:
    """Return `parser` where a trips table could not hold the row."""
    _, rejects = naive_trips([text])
    return "parser" if rejects.get(1) in {"columns", "pickup_datetime", "dropoff_datetime"} else None


def write_trips(folder: Path, lines: list[str]) -> None:
    """Write lines as a trips table."""
    days: dict[str, list[dict[str, object]]] = {}
    for n, text in enumerate(lines, start=1):
        raw = from_lines(pa.RecordBatch.from_pylist([{"line": n, "text": text}]))
        values = [n, *(raw.taxi[0].as_py(), raw.pickup_s[0], raw.dropoff_s[0], raw.trip_time_s[0])]
        values += [None if math.isnan(value[0]) else value[0] for value in (*raw.ends, raw.fare, raw.tip)]
        row = dict(zip(TABLE_COLUMNS, values, strict=True))
        days.setdefault(text.split(",")[3][:10], []).append(row)
    for day, rows in days.items():
        (folder / f"day={day}").mkdir(parents=True)
        parquet.write_table(
            pa.Table.from_pylist(rows[::-1], SCHEMA), folder / f"day={day}" / "part-0.parquet"
        )
    (folder / "summary.json").write_text(json.dumps({"kind": "trips", "rows": len(lines)}))
    (folder / "_SUCCESS").touch()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda table: (table / "_SUCCESS").unlink(), "_SUCCESS is missing"),
        (
            lambda table: next(table.glob("day=*/*")).write_bytes(b"PAR1 broken PAR1"),
            "table: cannot be read: ",
        ),
        (
            lambda table: keep_a_part(next(table.glob("day=*/*"))),
            r"12 rows are numbered 2 to 13: some are missing",
        ),
        (lambda table: other_types(next(table.glob("day=*/*"))), "table: cannot be read: "),
        (
            lambda table: parquet.write_table(pa.table({"n": [1]}), next(table.glob("day=*/*"))),
            "table: no trips table: its files have no column medallion",
        ),
    ],
    ids=["half written", "broken file", "rows missing", "other types", "other columns"],
)
def test_a_trips_table_that_is_not_whole_is_refused(
    spark: SparkSession,
    line: Callable[..., str],
    spoil: Callable[[Path], None],
    message: str,
    tmp_path: Path,
) -> None:
    write_trips(tmp_path / "table", [line(1_357_041_600 + n, (1, 1), (2, 2)) for n in range(13)])
    spoil(tmp_path / "table")

    with pytest.raises(DataError, match=message):
        write_expected(spark, tmp_path / "table", tmp_path / "out", quiet)

    assert not (tmp_path / "out").exists()


def keep_a_part(path: Path) -> None:
    parquet.write_table(parquet.read_table(path).slice(0, 12), path)


def other_types(path: Path) -> None:
    """Add a file whose coordinates are texts."""
    table = parquet.read_table(path)
    place = table.schema.get_field_index("pickup_latitude")
    texts = table["pickup_latitude"].cast(pa.string())
    parquet.write_table(table.set_column(place, "pickup_latitude", texts), path.with_name("part-1.parquet"))


def test_no_stage_has_all_rows_in_one_place(
    spark: SparkSession, line: Callable[..., str], tmp_path: Path
) -> None:
    """Each block's trips and their history come to one task; nothing else gathers rows."""
    lines = spark.createDataFrame([(1, line(1, (1, 1), (2, 2)))], "line bigint, text string")
    judged = judge_and_store_lines(spark, lines, (1, 2), Semantics(), tmp_path / "work")
    layout = lay_out([Span(k, 10, {1: k + 1, 2: k + 1}) for k in range(50)], 100)

    solved = solve(spark, judged, layout, (1, 2), Semantics())

    plan = solved._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]  # py4j
    assert "SinglePartition" not in plan
    assert "hashpartitioning(block" in plan


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_one_sentence_and_leaves_the_target(
    spark: SparkSession, messy: Callable[..., list[str]], tmp_path: Path
) -> None:
    disk, source = tmp_path / "disk", tmp_path / "rows.csv"
    source.write_text("\n".join(messy(1, 2000)))
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)], check=True)
    try:
        (disk / "out").mkdir()
        (disk / "out" / "summary.json").write_text("{}")

        with pytest.raises(MachineError, match="out: cannot be written: No space left on device"):
            write_expected(spark, source, disk / "out", quiet)

        assert [path.name for path in disk.iterdir()] == ["out"]
        assert [path.name for path in (disk / "out").iterdir()] == ["summary.json"]
    finally:  # lazily, as Spark may still hold a file that it could not write
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


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


def test_a_line_that_is_no_utf_8_is_judged_like_others(
    spark: SparkSession, line: Callable[..., str], tmp_path: Path
) -> None:
    """It counts if it has 17 good columns; a reject is kept with its text, broken bytes marked."""
    source, out = tmp_path / "rows.csv", tmp_path / "out"
    good = line(0, (1, 1), (2, 2)).encode()
    source.write_bytes(b"\n".join([good, b"\xe9" + good, b"caf\xe9"]))

    summaries = write_expected(spark, source, out, quiet, queries=(1, 2))

    assert [(each.valid, each.rejected) for each in summaries.values()] == [(2, {"columns": 1})] * 2
    assert json.loads((out / "rejects.json").read_text())["rejects"][0]["detail"] == "caf\ufffd"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a,b\nc,d\n",
            "none of 2 lines is a trip report of 17 columns; line 1: it does not have 17 columns",
        ),
        (
            b"\x1f\x8b\x08\n\xff",
            "none of 2 lines is a trip report of 17 columns; line 1: it does not have 17",
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
