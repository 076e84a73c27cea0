"""`data ingest`, `data clean` and `data generate`: trips tables from files, from one another, and made up."""

from __future__ import annotations

from datetime import date
from pathlib import Path  # typer reads the annotations at run time
from typing import Annotated

import typer

from cli.data.session import say, spark
from cli.errors import UserError

MASTER = typer.Option(help="Spark master URL.")
MEMORY = typer.Option(help="Heap of Spark's driver.")
OUT = typer.Option(help="Folder for the trips table; an earlier one is replaced.")
EPOCH = date(1970, 1, 1)


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command("generate")(generate)


def generate(
    days: Annotated[int, typer.Option(min=1, help="How many days.", show_default=False)],
    out: Annotated[Path, OUT],
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same rows.")] = 0,
    rows_per_day: Annotated[
        int | None,
        typer.Option(min=1, help="Mean over the year; by default New York's of 2013.", show_default="474433"),
    ] = None,
    start: Annotated[str, typer.Option(help="First day, YYYY-MM-DD.")] = "2013-01-14",
    master: Annotated[str, MASTER] = "local[*]",
    driver_memory: Annotated[str, MEMORY] = "1g",
) -> None:
    """Make up taxi trips with the statistics of the real ones, as a trips table."""
    from replay.trips.generate import generate as write  # noqa: PLC0415  # Spark loads slowly
    from replay.trips.settings import Settings  # noqa: PLC0415  # likewise

    try:
        first = (date.fromisoformat(start) - EPOCH).days
    except ValueError:
        raise UserError(f"--start: expected a day such as 2013-01-14, got {start!r}") from None
    settings = Settings(seed) if rows_per_day is None else Settings(seed, rows_per_day)
    with spark(master, driver_memory) as session:
        by_day = write(session, settings, range(first, first + days), out, say)
    typer.echo(f"{sum(by_day.values()):,} trips of {days} day{'s' if days > 1 else ''} in {out}")
