"""`data expected` and `data compare`: the queries' exact answers, and a run of the stream beside them."""

from __future__ import annotations

from pathlib import Path  # typer reads the annotations at run time
from typing import Annotated

import typer

from cli.data.session import bad_input, say, spark
from cli.errors import UserError

DIFFERENT_STATUS = 1


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command("expected")(expected)
    app.command("compare")(compare)


def expected(
    file: Annotated[Path, typer.Argument(help="Taxi rows, 17 columns, CSV or CSV.gz.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the answers; an earlier one is replaced.")],
    block_minutes: Annotated[
        int, typer.Option(min=1, help="Minutes of event time that one task works on (plus half an hour).")
    ] = 30,
) -> None:
    """Compute query 1 exactly: state per drop-off instant and minute, output rows, rejects by reason."""
    from replay.expected import write_expected  # noqa: PLC0415  # Spark loads slowly
    from replay.ingest import require_text  # noqa: PLC0415  # Spark loads slowly

    with bad_input():
        require_text(file)
    with spark() as session:
        summary = write_expected(session, file, out, say, block_s=block_minutes * 60)
    rejected = ", ".join(f"{reason} {count:,}" for reason, count in summary.rejected.items())
    typer.echo(f"rows {summary.rows:,}, valid {summary.valid:,}, rejected: {rejected or 'none'}")
    typer.echo(
        f"output rows {summary.output_rows:,}, instants {summary.instants:,}, minutes {summary.minutes:,}"
    )


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
    from replay.answers import read_answers  # noqa: PLC0415  # Spark loads slowly
    from replay.compare import compare_run  # noqa: PLC0415  # Spark loads slowly
    from replay.output import write_json  # noqa: PLC0415  # Spark loads slowly

    with spark() as session:
        verdict = compare_run(session, read_answers(session, expected_dir), stream)
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
