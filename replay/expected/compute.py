"""The exact answers of both queries for any number of trips, computed in independent blocks of event time."""

from __future__ import annotations

import shutil
from itertools import product
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use
from pyspark.sql.pandas.types import from_arrow_schema

from formats.semantics import Semantics
from replay.errors import DataError
from replay.expected.considered import PARSER_REASONS
from replay.expected.event_blocks import Span, block_rows, history_spans, lay_out, with_history
from replay.expected.judged import judge_and_store_lines, survey_table
from replay.expected.kernel.block_tables import ANSWER_ARROW
from replay.expected.kernel.both_queries import BlockSolver
from replay.expected.summary import ExpectedSummary, query_folder
from replay.expected.tables import survey, write_answers, write_rejects
from replay.failures import working
from replay.numbered_lines import read_lines
from replay.output import MARK, replaced_folder, write_json
from replay.places import spark_path
from replay.trips.table import read_trips

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql import DataFrame, Row, SparkSession

    from replay.expected.event_blocks import Layout
    from replay.expected.judged import Judged

_ANSWERS = from_arrow_schema(ANSWER_ARROW)
#: Reasons for which a row is no trip report, whatever the query.
_NO_REPORT = set(PARSER_REASONS[:4])


def write_expected(
    spark: SparkSession,
    source: Path,
    target: Path,
    say: Callable[[str], None],
    *,
    queries: Sequence[int] = (1,),
    semantics: Semantics | None = None,
    rows_per_block: int | None = None,
) -> dict[int, ExpectedSummary]:
    """Compute the queries' answers for trips and write them as one folder.

    The folder holds for query 1 `passed.parquet` (number and drop-off of every trip that passes),
    `instants.parquet` and `minutes.parquet` (states), `tops.parquet` (the challenge's output rows, numbered),
    `rejects.parquet`, `rejects.json` and `summary.json`; for query 2 the same in the folder `query2`.

    Args:
        spark: Session.
        source: CSV or CSV.gz file of 17 columns, or a trips table.
        target: Folder to write; an earlier result is replaced.
        say: Receives one line per finished step.
        queries: 1, 2 or both.
        semantics: Settings; default all the project's choices.
        rows_per_block: About how many rows a task works on; default by the number of rows and cores.

    Returns:
        By query, what was found.

    Raises:
        DataError: The rows cannot be read or none is a trip report.
        MachineError: The folder cannot be written.
    """
    asked = tuple(sorted(set(queries)))
    semantics = semantics or Semantics()
    with replaced_folder(target) as scratch, working(source, target):
        work = scratch / "work"
        judged = _judge_source(spark, source, asked, semantics, work / "judged")
        spans, rows, early = _census(source, judged, asked)
        say(f"{source.name}: {rows:,} rows")
        size = rows_per_block or block_rows(rows, spark.sparkContext.defaultParallelism)
        history, own_rows = history_spans(semantics), semantics.expiry == "own-rows"
        layout = lay_out(spans, size, history, from_last_row=own_rows)
        solved = solve(spark, judged, layout, asked, semantics)
        # not by kind too: Hadoop starts a process for each file that it makes on a local disk
        solved.write.partitionBy("query").parquet(spark_path(work / "answers"))
        answered = survey(spark.read.schema(_ANSWERS).parquet(spark_path(work / "answers")))
        blocks = len(layout.bounds)
        say(f"{blocks:,} block{'' if blocks == 1 else 's'} of event time answered")
        summaries = {}
        for query in asked:
            folder = query_folder(scratch, query)
            folder.mkdir(exist_ok=True)
            head = {"file": source.name, "rows": rows}
            rejected = write_rejects(judged.rejects, answered, query, folder, head=head, early=early[query])
            write_answers(spark, answered, query, folder)
            summaries[query] = ExpectedSummary(
                file=source.name,
                rows=rows,
                valid=answered.count(query, "passed"),
                rejected=rejected,
                output_rows=answered.tops(query),
                instants=answered.count(query, "instant"),
                minutes=answered.count(query, "minute"),
                blocks=blocks,
                queries=list(asked),
                semantics=semantics.document(),
            )
            write_json(folder / MARK, summaries[query].document())
        if 1 not in asked:
            write_json(scratch / MARK, {"file": source.name, "rows": rows, "queries": list(asked)})
        shutil.rmtree(work)
    say(f"written to {target}")
    return summaries


def solve(
    spark: SparkSession, judged: Judged, layout: Layout, queries: tuple[int, ...], semantics: Semantics
) -> DataFrame:
    """Answer the queries block by block.

    Args:
        spark: Session.
        judged: The rows.
        layout: Blocks.
        queries: 1, 2 or both.
        semantics: Settings.

    Returns:
        Columns as in `replay.expected.kernel.block_tables.ANSWER_ARROW`.
    """
    solver = BlockSolver(queries, semantics, layout.bounds)
    prepare = judged.prepare  # its own name, as no task must take the tables of `judged` along

    def solve_block(table: pa.Table) -> pa.Table:  # Spark counts a method's `self` as one more argument
        return solver.solve(table["block"][0].as_py(), prepare(table))

    return with_history(spark, judged.trips, layout).groupBy("block").applyInArrow(solve_block, _ANSWERS)


def _judge_source(
    spark: SparkSession, source: Path, queries: tuple[int, ...], semantics: Semantics, work: Path
) -> Judged:
    """Read and judge all rows."""
    if source.is_dir():
        return survey_table(spark, read_trips(spark, source), queries, semantics, work)
    return judge_and_store_lines(spark, read_lines(spark, source), queries, semantics, work)


def _census(
    source: Path, judged: Judged, queries: tuple[int, ...]
) -> tuple[list[Span], int, dict[int, dict[str, int]]]:
    """Count rows by span of event time and by reason; the driver sees some rows per span.

    Returns:
        The spans with rows that a query considers; all rows; by query the rejects so far by reason.
    """
    counted = (
        judged.census.groupBy("span", "reason1", "reason2")
        .agg(F.sum("rows").alias("rows"), F.min("lowest").alias("lowest"), F.max("highest").alias("highest"))
        .collect()
    )
    rows = sum(row["rows"] for row in counted)
    reports = sum(row["rows"] for row in counted if not {row["reason1"], row["reason2"]} & _NO_REPORT)
    _require_reports(source, judged.rejects, rows, reports)
    _require_dense(source, counted, rows)
    rejected: dict[int, dict[str, int]] = {query: {} for query in queries}
    for row, query in product(counted, queries):
        reason = row[f"reason{query}"]
        if reason is not None:
            rejected[query][reason] = rejected[query].get(reason, 0) + row["rows"]
    by_span: dict[int, list[Row]] = {}
    for row in counted:
        if row["span"] is not None:
            by_span.setdefault(row["span"], []).append(row)
    spans = [
        Span(
            number,
            sum(row["rows"] for row in group),
            {
                query: min((row["lowest"] for row in group if row[f"reason{query}"] is None), default=None)
                for query in queries
            },
        )
        for number, group in by_span.items()
    ]
    return spans, rows, rejected


def _require_dense(source: Path, counted: list[Row], rows: int) -> None:
    """Refuse a trips table in which rows are missing or doubled; lines are numbered without gaps anyway."""
    lowest, highest = min(row["lowest"] for row in counted), max(row["highest"] for row in counted)
    if (lowest, highest) != (1, rows):
        raise DataError(
            f"{source}: {rows:,} rows are numbered {lowest:,} to {highest:,}: some are missing or there twice"
        )


def _require_reports(source: Path, rejects: DataFrame, rows: int, reports: int) -> None:
    """Refuse rows of another format: the parser drops them all."""
    if reports:
        return
    reason = F.coalesce("reason1", "reason2").alias("reason")
    first = rejects.orderBy("n").select("n", reason).first()
    if first is None:
        raise DataError(f"{source}: there is no row")
    unreadable = f"its {first['reason']} is unreadable"
    fault = "it does not have 17 columns" if first["reason"] == "columns" else unreadable
    raise DataError(
        f"{source}: none of {rows:,} lines is a trip report of 17 columns; line {first['n']}: {fault}"
    )
