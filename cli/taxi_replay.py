"""Commands of the group `taxi` that put rows into Redis."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import UserError
from cli.taxi_input import read_run, redis_at
from cli.taxi_meter import Meter

RedisOption = Annotated[str, typer.Option("--redis", metavar="HOST:PORT", help="Redis of rows and results.")]
RunOption = Annotated[str, typer.Option("--run", metavar="ID", help="Id of the run: one pass of rows.")]

PACED_ROWS_BEGIN = "paced rows begin"
"""What `feed` writes to standard error when they do, at the start of a line."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(feed)


def feed(
    file: Annotated[Path, typer.Argument(help="Rows in the challenge's 17 columns, plain or .gz.")],
    redis: RedisOption,
    run: RunOption,
    fast_rows: Annotated[
        int | None, typer.Option(min=0, help="Rows fed as fast as consumed (default: all without --rate).")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Rows per second after the fast rows.")
    ] = None,
    paced_rows: Annotated[
        int | None, typer.Option(min=0, help="Rows at that rate (default: the rest of the file).")
    ] = None,
    ahead: Annotated[int, typer.Option(min=1, help="Most fast rows ahead of the results.")] = 2_000,
    timeout: Annotated[float, typer.Option(min=1, help="Longest time without progress, seconds.")] = 120.0,
) -> None:
    """Put rows into Redis, never far ahead of the results."""
    if paced_rows is not None and rate is None:
        raise UserError("--paced-rows needs --rate")
    from topologies.taxi.feed import Feeder, FeedError, FeedPlan, FeedProgress  # noqa: PLC0415 - imports redis
    from topologies.taxi.rows import RowsError  # noqa: PLC0415

    plan = FeedPlan(fast_rows, rate, paced_rows, ahead, timeout)
    meter = Meter("rows")

    def report(progress: FeedProgress) -> None:
        if progress.phase == "paced":
            meter.say_once(PACED_ROWS_BEGIN)
        behind = progress.fed - progress.answered
        late = f", {progress.lag_ms:.1f} ms late" if progress.phase == "paced" else ""
        meter.show(
            progress.fed, progress.total, f"{progress.phase}, {behind} rows ahead of the results{late}"
        )

    with redis_at(redis) as client, meter:
        try:
            fed = Feeder(client, read_run(run), plan, report).feed(file)
        except RowsError as error:
            raise UserError(str(error)) from error
        except FeedError as error:
            raise UserError(str(error), status=1) from error
    typer.echo(f"fed {fed} rows to run {run}")
