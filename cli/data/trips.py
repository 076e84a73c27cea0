"""`data ingest`, `data clean` and `data generate`: trips tables from files, from one another, and made up."""

from __future__ import annotations

from datetime import date
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.checkout import require_checkout
from cli.data.session import DriverMemory, Master, bad_input, say, spark
from cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from replay.trips.check import Figure

Out = Annotated[Path, typer.Option(help="Folder for the trips table; an earlier one is replaced.")]

REAL_ROWS = Path(__file__).resolve().parents[2] / "data" / "debs2015"
EPOCH = date(1970, 1, 1)
DEVIATION_STATUS = 1
TABLE_WIDTH = 110
"""Columns of the tables where no terminal says how wide it is."""


def ingest(
    files: Annotated[list[Path], typer.Argument(help="Files, plain or .gz, in order.", show_default=False)],
    out: Out,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="challenge, agency, senml or events; by default recognised by each file's first lines.",
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Make a trips table from files: 17 columns, the agency's schema, SenML lines, start and end events.

    Lines that are no trips go to OUT/rejects (Parquet: file, line, reason, text) and are counted by reason.
    """
    from replay.output import require_replaceable  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.blocks import blocks_of  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.ingest import ingest as write  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.layouts import LAYOUTS  # noqa: PLC0415  # likewise

    if file_format is not None and file_format not in LAYOUTS:
        raise UserError(f"--format: expected one of {', '.join(LAYOUTS)}, got {file_format!r}")
    layout = None if file_format is None else LAYOUTS[file_format]
    with bad_input():
        for file in files:
            blocks_of(file)
        require_replaceable(out)
    with spark(master, driver_memory, out=out) as session:
        summaries = write(session, files, out, say, layout=layout)
    table = _table("file", "format", "lines", "trips", "skipped", "rejected")
    for one in summaries:
        counts = (f"{one.lines:,}", f"{one.rows:,}", _counts(one.skipped), _counts(one.rejected))
        table.add_row(one.file, one.layout, *counts)
    _print(table)
    typer.echo(f"{sum(one.rows for one in summaries):,} trips in {out}")


def clean(
    source: Annotated[Path, typer.Argument(help="A trips table.", show_default=False)],
    out: Out,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Copy a trips table without what the queries cannot use, sorted by drop-off and numbered anew."""
    from replay.output import require_replaceable  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.clean import clean as write  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.table import require_table  # noqa: PLC0415  # likewise

    with bad_input():
        require_table(source)
        require_replaceable(out)
    with spark(master, driver_memory, out=out) as session:
        summary = write(session, source, out, say)
    table = _table("rejected", "trips", "%")
    for reason, count in summary.rejected.items():
        table.add_row(reason, f"{count:,}", f"{100 * count / summary.rows_before:.3f}")
    if summary.rejected:
        _print(table)
    typer.echo(f"{summary.rows:,} of {summary.rows_before:,} trips in {out}")


def generate(
    days: Annotated[int, typer.Option(min=1, help="How many days.", show_default=False)],
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same rows.")] = 0,
    rows_per_day: Annotated[
        int | None,
        typer.Option(min=1, help="Mean over the year; by default New York's of 2013.", show_default="474433"),
    ] = None,
    start: Annotated[str, typer.Option(help="First day, YYYY-MM-DD.")] = "2013-01-14",
    csv: Annotated[
        bool, typer.Option("--csv", help="Write OUT/csv/DAY.csv.gz too, the challenge's 17 columns.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Print the rows' statistics beside those of the real rows.")
    ] = False,
    real: Annotated[Path, typer.Option(help="Folder of the real rows, for --check.")] = REAL_ROWS,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Make up taxi trips with the statistics of the real ones, as a trips table.

    Exit status: 0 done, 1 a statistic deviates by more than its tolerance (--check), 2 bad input.
    """
    if check and real == REAL_ROWS:
        require_checkout("--check without --real", needs="the real rows in data/debs2015")
    from replay.output import require_replaceable  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.generate import generate as write  # noqa: PLC0415  # likewise
    from replay.trips.generate import require_days  # noqa: PLC0415  # likewise
    from replay.trips.settings import Settings  # noqa: PLC0415  # likewise

    try:
        first = (date.fromisoformat(start) - EPOCH).days
    except ValueError:
        raise UserError(f"--start: expected a day such as 2013-01-14, got {start!r}") from None
    settings = Settings(seed) if rows_per_day is None else Settings(seed, rows_per_day)
    asked = range(first, first + days)
    with bad_input():
        require_days(settings, asked)
        require_replaceable(out)
        if check:
            from replay.trips.check import check_made_up, require_real_rows  # noqa: PLC0415  # likewise

            require_real_rows(real, settings.rows_per_day * days)
    figures: list[Figure] = []
    with spark(master, driver_memory, out=out) as session:
        by_day = write(session, settings, asked, out, say, as_csv=csv)
        if check:
            say("comparing with the real rows")
            figures = check_made_up(session, out, real)
    if figures:
        _print(_figures(figures))
    typer.echo(f"{sum(by_day.values()):,} trips of {days} day{'s' if days > 1 else ''} in {out}")
    off = [figure.name for figure in figures if figure.verdict == "off"]
    if off:
        raise UserError(f"{out}: unlike the real rows: {'; '.join(off)}", status=DEVIATION_STATUS)


def _figures(figures: Sequence[Figure]) -> Table:
    table = _table("statistic", "made up", "real", "deviation", "tolerance", "verdict")
    for one in figures:
        deviation = f"{100 * (one.made / one.real - 1):+.0f} %" if one.real else "-"
        verdict = {"ok": "ok", "off": "[bold red]OFF[/]"}.get(one.verdict, one.verdict)
        table.add_row(
            one.name,
            f"{one.made:,.2f}",
            f"{one.real:,.2f}",
            deviation,
            f"{100 * one.tolerance:.0f} %",
            verdict,
        )
    return table


def _counts(counts: dict[str, int]) -> str:
    return "\n".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _table(first: str, *others: str) -> Table:
    from rich.table import Table  # noqa: PLC0415  # only commands that print one need it

    table = Table()
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right")
    return table


def _print(table: Table) -> None:
    from rich.console import Console  # noqa: PLC0415  # only commands that print a table need it

    console = Console()
    (console if console.is_terminal else Console(width=TABLE_WIDTH)).print(table)
