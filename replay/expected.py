"""The exact answers of query 1 for a file of trips, computed in independent blocks of event time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.blocks import with_history
from replay.clean import FILTER_REASONS, PARSER_REASONS, clean
from replay.errors import DataError
from replay.ingest import read_lines
from replay.kernel import ANSWER_SCHEMA, solve_block
from replay.output import MARK, replaced_folder, write_json
from replay.running import CHUNK_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

BLOCK_S = 1800
LISTED_REJECTS = 1000


@dataclass(frozen=True)
class ExpectedSummary:
    """What a file of trips holds and how many answers query 1 has for it.

    Attributes:
        file: Name of the file.
        rows: Lines.
        valid: Trips that pass the filter.
        rejected: Lines turned away, by reason; a reason that never occurred is absent.
        output_rows: Rows of the challenge's output.
        instants: Different drop-off instants.
        minutes: Whole minutes in which trips ended.
        blocks: Blocks of event time that were worked on independently.
    """

    file: str
    rows: int
    valid: int
    rejected: dict[str, int]
    output_rows: int
    instants: int
    minutes: int
    blocks: int


def write_expected(
    spark: SparkSession,
    source: Path,
    target: Path,
    say: Callable[[str], None],
    *,
    block_s: int = BLOCK_S,
    chunk_rows: int = CHUNK_ROWS,
) -> ExpectedSummary:
    """Compute query 1's answers for a file of 17 columns and write them as one folder.

    The folder holds `passed.parquet` (line and drop-off of every trip that passes), `instants.parquet` and
    `minutes.parquet` (states), `tops.parquet` (the challenge's output rows, numbered), `rejects.parquet`,
    `rejects.json` and `summary.json`.

    Args:
        spark: Session.
        source: CSV or CSV.gz file.
        target: Folder to write; an earlier result is replaced.
        say: Receives one line per finished step.
        block_s: Seconds of event time per block.
        chunk_rows: Lines that one task orders at once.

    Raises:
        DataError: The file cannot be read, no line of it is a trip report, or the folder cannot be written.
    """
    with replaced_folder(target) as scratch:
        lines = read_lines(spark, source)
        cleaned = clean(spark, lines, chunk_rows).persist(StorageLevel.MEMORY_AND_DISK)
        counts = {row["reason"]: row["count"] for row in cleaned.groupBy("reason").count().collect()}
        rows, valid = sum(counts.values()), counts.pop(None, 0)
        _require_trips(source, cleaned, rows, counts)
        say(f"{source.name}: {rows:,} rows, {valid:,} pass, {rows - valid:,} rejected")
        rejects = cleaned.where("reason is not null").select("line", "reason", "detail")
        _write_rejects(rejects, scratch, source, rows, counts)
        trips = cleaned.where("reason is null").select("line", "dropoff_s", "route", "pickup", "dropoff")
        trips.select("line", "dropoff_s").write.parquet(str(scratch / "passed.parquet"))
        solved = (
            with_history(spark, trips, block_s)
            .groupBy("block")
            .applyInArrow(solve_block, ANSWER_SCHEMA)
            .persist(StorageLevel.MEMORY_AND_DISK)
        )
        kinds = _counts_by_kind(solved)
        say(f"{kinds['instant']:,} instants, {kinds['minute']:,} minutes, {kinds['change']:,} output rows")
        _write_answers(spark, solved, scratch)
        summary = ExpectedSummary(
            file=source.name,
            rows=rows,
            valid=valid,
            rejected=dict(sorted(counts.items())),
            output_rows=kinds["change"],
            instants=kinds["instant"],
            minutes=kinds["minute"],
            blocks=solved.select("block").distinct().count(),
        )
        write_json(scratch / MARK, asdict(summary))
        solved.unpersist()
        cleaned.unpersist()
    say(f"written to {target}")
    return summary


def _require_trips(source: Path, cleaned: DataFrame, rows: int, rejected: dict[str, int]) -> None:
    """Refuse a file of another format: one in which the parser drops every line."""
    if sum(rejected.get(reason, 0) for reason in PARSER_REASONS) < rows:
        return
    first = cleaned.orderBy("line").select("line", "reason").first()
    if first is None:
        raise DataError(f"{source}: the file holds no line")
    fault = (
        "it does not have 17 columns"
        if first["reason"] == "columns"
        else f"its {first['reason']} is unreadable"
    )
    raise DataError(
        f"{source}: none of {rows:,} lines is a trip report of 17 columns; line {first['line']}: {fault}"
    )


def _write_rejects(
    rejects: DataFrame, scratch: Path, source: Path, rows: int, counts: dict[str, int]
) -> None:
    rejects.write.parquet(str(scratch / "rejects.parquet"))
    listed = rejects.orderBy("line").limit(LISTED_REJECTS).collect()
    document = {
        "file": source.name,
        "rows": rows,
        "parser": {reason: counts[reason] for reason in PARSER_REASONS if reason in counts},
        "filter": {reason: counts[reason] for reason in FILTER_REASONS if reason in counts},
        "listed": len(listed),
        "rejects": [row.asDict() for row in listed],
    }
    write_json(scratch / "rejects.json", document)


def _counts_by_kind(solved: DataFrame) -> dict[str, int]:
    counts = {row["kind"]: row["count"] for row in solved.groupBy("kind").count().collect()}
    return {kind: counts.get(kind, 0) for kind in ("instant", "minute", "change")}


def _write_answers(spark: SparkSession, solved: DataFrame, scratch: Path) -> None:
    state = ["line", "time_s", "trips", "routes", "counts", "tied"]
    solved.where("kind = 'instant'").select(state).write.parquet(str(scratch / "instants.parquet"))
    solved.where("kind = 'minute'").select(state).write.parquet(str(scratch / "minutes.parquet"))
    changes = solved.where("kind = 'change'")
    per_block = changes.groupBy("block").count().orderBy("block").collect()
    ends = accumulate(row["count"] for row in per_block)
    before = [(row["block"], end - row["count"]) for row, end in zip(per_block, ends, strict=True)]
    offsets = spark.createDataFrame(before, "block bigint, _before bigint")
    place = F.row_number().over(Window.partitionBy("block").orderBy("line")) + F.col("_before")
    numbered = changes.join(F.broadcast(offsets), "block").withColumn("position", place.cast("bigint"))
    numbered.select("position", "line", "time_s", "routes", "counts", "row").write.parquet(
        str(scratch / "tops.parquet")
    )
