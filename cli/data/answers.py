"""`data expected` and `data compare`: the queries' exact answers, and a run of the stream beside them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path  # typer reads the annotations at run time
from typing import Annotated

import typer

from cli.data.session import DriverMemory, Master, bad_input, say, spark
from cli.errors import UserError, refused
from formats.semantics import parse_settings

DIFFERENT_STATUS = 1


class Ties(Enum):
    """How entries of one level must be ordered."""

    STRICT = "strict"
    FREE = "free"


def expected(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT", help="Rows of 17 columns, CSV or CSV.gz, or a trips table.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the answers; an earlier one is replaced.")],
    query: Annotated[str, typer.Option(help="1, 2, or 1,2 for both.")] = "1",
    semantics: Annotated[
        list[str] | None,
        typer.Option(help="KEY=VALUE: how an open point is taken; may be repeated.", show_default=False),
    ] = None,
    block_rows: Annotated[
        int | None,
        typer.Option(min=1, help="About how many rows a task works on; default by size.", show_default=False),
    ] = None,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Compute the queries exactly: state per drop-off instant and minute, output rows, rejects by reason."""
    queries = _queries(query)
    from replay.expected.compute import write_expected  # noqa: PLC0415  # Spark loads slowly
    from replay.expected.input_kind import input_bytes  # noqa: PLC0415  # likewise
    from replay.output import require_replaceable  # noqa: PLC0415  # likewise

    with refused(ValueError, by="semantics"):
        settings = parse_settings(semantics or [])
    with bad_input():
        size = input_bytes(source)
        require_replaceable(out)
    with spark(master, driver_memory, input_bytes=size, out=out) as session:
        summaries = write_expected(
            session, source, out, say, queries=queries, semantics=settings, rows_per_block=block_rows
        )
    for number, summary in summaries.items():
        typer.echo(f"query {number}: {summary.sentence()}")


def compare(
    expected_dir: Annotated[Path, typer.Option("--expected", help="Folder of the expected answers.")],
    stream: Annotated[
        Path, typer.Option(help="Folder of the run: results.csv, states.jsonl, ..., for query 2 in query2/.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="File for the verdict as JSON.", show_default=False)
    ] = None,
    ties: Annotated[
        Ties,
        typer.Option(
            help="strict: row by row; free: states only, any order within a level.", case_sensitive=True
        ),
    ] = Ties.STRICT,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Compare a run of the stream with the expected answers, for each query that the run has.

    Exit status: 0 equal, 1 different (the first difference of each kind is named), 2 bad input.
    """
    from replay.compare.compare import compare_queries, require_comparable  # noqa: PLC0415  # Spark loads slowly
    from replay.output import require_writable_file, write_json  # noqa: PLC0415  # Spark loads slowly

    with bad_input():
        require_comparable(expected_dir, stream)
        if out is not None:
            require_writable_file(out)
    with spark(master, driver_memory, out=out) as session:
        verdict = compare_queries(session, expected_dir, stream, free_ties=ties is Ties.FREE)
        if out is not None:
            write_json(out, verdict.document())
    for query, found in verdict.by_query.items():
        if found.equal:
            rows = "" if ties is Ties.FREE else f" and {found.output_rows:,} output rows"
            agree = f"{found.instants:,} instants{rows} agree"
            typer.echo(f"query {query}: equal: {found.rows_answered:,} rows answered, {agree}")
    if verdict.equal:
        return
    for difference in verdict.differences:
        typer.echo(difference.sentence())
    raise UserError(f"{stream}: the answers differ from {expected_dir}", status=DIFFERENT_STATUS)


def _queries(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not set(parts) <= {"1", "2"} or len(set(parts)) < len(parts):
        raise UserError(f"--query {text}: expected 1, 2 or 1,2")
    return tuple(sorted(int(part) for part in parts))
