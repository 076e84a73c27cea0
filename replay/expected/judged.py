"""All rows of an input with what each query makes of them, kept so that they are read as rarely as possible.

Lines are parsed once and kept with their types. Rows of a trips table have types already: reading them
again costs less than keeping them judged, so one pass counts them and keeps the rejects, and blocks judge
their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use
from pyspark.sql.pandas.types import from_arrow_schema

from replay.expected.considered import JUDGED_SCHEMA, judge, judge_lines
from replay.expected.event_blocks import SPAN_S, span
from replay.expected.raw_trips import TABLE_COLUMNS, from_table
from replay.places import spark_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from formats.semantics import Semantics

_REJECT = ("n", "reason1", "detail1", "reason2", "detail2")
_KERNEL_COLUMNS = ("n", "dropoff_s", "pickup_s", "route", "taxi", "start", "end", "cents")
_SURVEY_ARROW = pa.schema(
    [
        *((name, pa.int64() if name == "n" else pa.string()) for name in _REJECT),
        *((name, pa.int64()) for name in ("span", "rows", "lowest", "highest")),
    ]
)
_SURVEY_SCHEMA = from_arrow_schema(_SURVEY_ARROW)


@dataclass(frozen=True)
class Judged:
    """An input's rows.

    Attributes:
        trips: Rows that a query may consider: `dropoff_s`, and what `prepare` takes.
        prepare: Turns rows of `trips` into columns `n`, `dropoff_s`, `pickup_s`, `route`, `taxi`, `start`,
            `end` and `cents` of `replay.expected.considered.JUDGED_SCHEMA`; for the block's own process.
        census: `rows`, and their `lowest` and `highest` number, by `reason1`, `reason2` and the `span` of
            event time (null where no query considers the row); several rows per group.
        rejects: `n`, `reason1`, `detail1`, `reason2`, `detail2` of rows that a query does not consider.
    """

    trips: DataFrame
    prepare: Callable[[pa.Table], pa.Table]
    census: DataFrame
    rejects: DataFrame


def judge_and_store_lines(
    spark: SparkSession, lines: DataFrame, queries: tuple[int, ...], semantics: Semantics, work: Path
) -> Judged:
    """Parse and judge lines.

    Args:
        spark: Session.
        lines: Columns `line` and `text`.
        queries: 1, 2 or both.
        semantics: Settings.
        work: Folder to keep the judged rows in; it must not exist.
    """
    judge_lines(lines, queries, semantics).write.parquet(spark_path(work))
    rows = spark.read.schema(JUDGED_SCHEMA).parquet(spark_path(work))
    considered = F.col("route").isNotNull() | F.col("start").isNotNull()
    numbers = (F.lit(1).alias("rows"), F.col("n").alias("lowest"), F.col("n").alias("highest"))
    census = rows.select(F.when(considered, span("dropoff_s")).alias("span"), "reason1", "reason2", *numbers)
    return Judged(
        trips=rows.where(considered).select(*_KERNEL_COLUMNS),
        prepare=_as_it_is,
        census=census,
        rejects=rows.where("reason1 is not null or reason2 is not null").select(*_REJECT),
    )


def survey_table(
    spark: SparkSession, table: DataFrame, queries: tuple[int, ...], semantics: Semantics, work: Path
) -> Judged:
    """Judge the rows of a trips table; arguments as of `judge_and_store_lines`."""

    def survey_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from survey(judge(from_table(batch), queries, semantics))

    def prepare(rows: pa.Table) -> pa.Table:
        (batch,) = rows.select(list(TABLE_COLUMNS)).combine_chunks().to_batches()
        return pa.Table.from_batches([judge(from_table(batch), queries, semantics)])

    trips = table.select(*TABLE_COLUMNS)
    # whose trip it was decides nothing here, and is most of what would have to be handed over
    named = [F.lit(None).cast("string").alias("medallion") if c == "medallion" else c for c in TABLE_COLUMNS]
    trips.select(*named).mapInArrow(survey_batches, _SURVEY_SCHEMA).write.parquet(spark_path(work))
    found = spark.read.schema(_SURVEY_SCHEMA).parquet(spark_path(work))
    return Judged(
        trips=trips.where("dropoff_s is not null"),
        prepare=prepare,
        census=found.where("n is null").drop("n"),
        rejects=found.where("n is not null").select(*_REJECT),
    )


def survey(judged: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Return a batch's census and its rejects, in one form: rejects have a number, the census has none."""
    rows = pa.Table.from_batches([judged])
    rejected = rows.filter(pc.or_(rows["reason1"].is_valid(), rows["reason2"].is_valid())).select(
        list(_REJECT)
    )
    considered = pc.or_(rows["route"].is_valid(), rows["start"].is_valid())
    # Arrow's division cuts towards zero, and times before 1970 are below it
    number = pc.floor(pc.divide(pc.cast(pc.subtract(rows["dropoff_s"], 1), pa.float64()), float(SPAN_S)))
    spans = pc.if_else(considered, pc.cast(number, pa.int64()), None)
    counted = (
        rows.select(["n", "reason1", "reason2"])
        .append_column("span", spans)
        .group_by(["span", "reason1", "reason2"])
        .aggregate([("n", "count"), ("n", "min"), ("n", "max")])
        .rename_columns({"n_count": "rows", "n_min": "lowest", "n_max": "highest"})
    )
    return [batch for part in (counted, rejected) for batch in _fill(part).to_batches()]


def _fill(part: pa.Table) -> pa.Table:
    """Give a table all columns of the survey; those that it does not have are null."""
    arrays = [
        part[field.name] if field.name in part.column_names else pa.nulls(len(part), field.type)
        for field in _SURVEY_ARROW
    ]
    return pa.table(arrays, schema=_SURVEY_ARROW)


def _as_it_is(rows: pa.Table) -> pa.Table:
    return rows
