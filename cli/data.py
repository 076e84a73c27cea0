"""Commands of the group `data`: expected answers, comparison and response times, on Spark."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from replay.latency import Latency

app = typer.Typer(no_args_is_help=True)

DIFFERENT_STATUS = 1


@app.callback()
def group() -> None:
    """Taxi data on Spark: the query's expected answers, comparison of a run with them, response times."""


@app.command()
def expected(
    file: Annotated[Path, typer.Argument(help="Taxi rows, 17 columns, CSV or CSV.gz.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the answers; an earlier one is replaced.")],
    block_minutes: Annotated[
        int, typer.Option(min=1, help="Minutes of event time that one task works on (plus half an hour).")
    ] = 30,
) -> None:
    """Compute query 1 exactly: state per drop-off instant and minute, output rows, rejects by reason."""
    # Spark loads slowly, so only the commands that need it import it
    from replay.expected import write_expected  # noqa: PLC0415
    from replay.ingest import require_text  # noqa: PLC0415

    with _bad_input():
        require_text(file)
    with _spark() as spark:
        summary = write_expected(spark, file, out, _say, block_s=block_minutes * 60)
    rejected = ", ".join(f"{reason} {count:,}" for reason, count in summary.rejected.items())
    typer.echo(f"rows {summary.rows:,}, valid {summary.valid:,}, rejected: {rejected or 'none'}")
    typer.echo(
        f"output rows {summary.output_rows:,}, instants {summary.instants:,}, minutes {summary.minutes:,}"
    )


@app.command()
def compare(
    expected_dir: Annotated[Path, typer.Option("--expected", help="Folder of the expected answers.")],
    stream: Annotated[Path, typer.Option(help="Folder of the run: results.csv, states.jsonl, tops.csv, ...")],
    out: Annotated[
        Path | None, typer.Option(help="File for the verdict as JSON.", show_default=False)
    ] = None,
) -> None:
    """Compare a run of the stream with the expected answers.

    Exit status: 0 equal, 1 different (the first difference is named), 2 bad input.
    """
    from replay.answers import read_answers  # noqa: PLC0415  # see expected
    from replay.compare import compare_run  # noqa: PLC0415
    from replay.output import write_json  # noqa: PLC0415

    with _spark() as spark:
        verdict = compare_run(spark, read_answers(spark, expected_dir), stream)
        if out is not None:
            write_json(out, verdict.document())
    if verdict.equal:
        typer.echo(
            f"equal: {verdict.rows_answered:,} rows answered, {verdict.instants:,} instants and "
            f"{verdict.output_rows:,} output rows agree"
        )
        return
    for difference in verdict.differences:
        typer.echo(difference.sentence())
    raise UserError(f"{stream}: the answers differ from {expected_dir}", status=DIFFERENT_STATUS)


@app.command()
def latency(
    stream: Annotated[list[Path], typer.Option(help="Folder of a run with results.csv; may be repeated.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the figures as JSON, by folder.", show_default=False)
    ] = None,
) -> None:
    """Compute response times of runs over their paced rows: mean and percentiles."""
    from replay.latency import measure_run  # noqa: PLC0415  # see expected
    from replay.output import write_json  # noqa: PLC0415

    with _spark() as spark:
        measured = {str(folder): measure_run(spark, folder) for folder in stream}
        if out is not None:
            write_json(out, {folder: figures.document() for folder, figures in measured.items()})
    _print_latency(measured)


def _print_latency(measured: dict[str, Latency]) -> None:
    from rich.console import Console  # noqa: PLC0415  # not needed by the other commands
    from rich.table import Table  # noqa: PLC0415

    table = Table("run", "response time", "rows", "mean ms", "p50 ms", "p95 ms", "p99 ms")
    for folder, figures in measured.items():
        for name, times in (("end to end", figures.end_to_end), ("in topology", figures.in_topology)):
            values = [times.mean_ms, *(times.percentile_ms(percent) for percent in (50, 95, 99))]
            table.add_row(folder, name, f"{times.count:,}", *(f"{value:.1f}" for value in values))
    Console().print(table)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@contextmanager
def _bad_input() -> Iterator[None]:
    """Turn the package's refusals into the command line's."""
    from replay.errors import DataError  # noqa: PLC0415  # see expected

    try:
        yield
    except DataError as error:
        raise UserError(str(error)) from error


@contextmanager
def _spark() -> Iterator[SparkSession]:
    """A Spark session; bad input inside the block is refused as the command line does."""
    from replay.session import spark_session  # noqa: PLC0415  # see expected

    with _bad_input():
        _say("starting Spark")
        with spark_session() as spark:
            yield spark
