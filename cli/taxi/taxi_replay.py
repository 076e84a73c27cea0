"""Commands of the group `taxi` that put rows into Redis: `replay`, and `feed` for experiments."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError, refused
from cli.interrupt import INTERRUPTED_STATUS, Interrupt
from cli.taxi.taxi_input import (
    RedisOption,
    RunOption,
    read_run,
    redis_at,
    require_finite,
)
from cli.taxi.taxi_replay_display import ReplayDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

    from topologies.taxi.replay.outcome import Outcome
    from topologies.taxi.replay.pace import Pace

FileArgument = Annotated[
    Path, typer.Argument(help="Rows in the challenge's 17 columns, plain or .gz, or a trips table's folder.")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Longest time without progress, seconds.")]


def replay(
    file: FileArgument,
    redis: RedisOption,
    run: RunOption,
    speed: Annotated[
        float | None, typer.Option(min=1e-6, help="So many times the speed of the rows' drop-off times.")
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.001, help="Rows per second.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="As fast as rows are consumed.")] = False,
    fast_rows: Annotated[
        int,
        typer.Option(min=0, help="Rows as fast as consumed; the others when their results are there."),
    ] = 0,
    ahead: Annotated[int, typer.Option(min=1, help="Most rows in Redis ahead of the results.")] = 50_000,
    trim: Annotated[
        bool, typer.Option("--trim", help="Remove rows from Redis that no query needs any more.")
    ] = False,
    rejects: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Malformed rows (default: RUN-rejects.csv).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on behind the rows that are there.")] = False,
    timeout: TimeoutOption = 120.0,
) -> None:
    """Put rows into Redis at their own speed, at a rate, or as fast as they are consumed.

    Ctrl-C pauses: the same command with --resume goes on at the right row, also after a crash.
    """
    if [speed is not None, rate is not None, fast].count(True) != 1:
        raise UserError("give exactly one of --speed, --rate and --fast")
    require_finite("--speed", speed)
    require_finite("--rate", rate)
    from topologies.taxi.replay.open_source import open_source  # noqa: PLC0415 - likewise
    from topologies.taxi.replay.pace import Limits, Phase, Rate, Speed  # noqa: PLC0415 - likewise
    from topologies.taxi.replay.rejects import RejectsFile  # noqa: PLC0415 - likewise
    from topologies.taxi.replay.replayer import Replayer  # noqa: PLC0415 - likewise
    from topologies.taxi.replay.stream import RunStream  # noqa: PLC0415 - likewise

    pace: Pace | None = None
    if speed is not None:
        pace = Speed(speed)
    elif rate is not None:
        pace = Rate(rate)
    known = read_run(run)
    kept = RejectsFile(rejects or Path(f"{run}-rejects.csv"))
    display = ReplayDisplay()
    with _feeding(redis) as client, Interrupt(every_ending=True) as wish:
        source, stream = open_source(file), RunStream(client, known)
        # a run that is gone on with has some of its fast rows, or all
        standing = stream.standing() if resume and fast_rows else None
        left = fast_rows - (0 if standing is None else standing.fed)
        phases = [Phase(None, left), Phase(pace, drained=True)] if left > 0 else [Phase(pace)]
        replayer = Replayer(
            source,
            stream,
            phases,
            Limits(ahead, timeout, trim),
            fields={"rate_per_s": str(rate or 0.0), "speed": str(speed or 0.0)},
            rejects=kept,
            report=display.report,
            stopped=lambda: wish.happened,
        )
        with display:
            outcome = replayer.run(resume=resume)
    besides = _besides(outcome, kept.path)
    if not outcome.ended:
        said = (
            f"run {run} is paused after row {outcome.fed}{besides}: go on with the same command and --resume"
        )
        raise UserError(said, status=INTERRUPTED_STATUS)
    if resume and outcome.fed == outcome.begun_at:
        typer.echo(f"run {run} has all {outcome.fed} rows and their end{besides}")
        return
    new = outcome.fed - outcome.begun_at
    pause_text = f", {outcome.begun_at} of them before" if outcome.begun_at else ""
    late = f", {outcome.mean_lag_ms:.1f} ms late on average, {outcome.worst_lag_ms:.1f} ms at most"
    typer.echo(
        f"run {run}: {outcome.fed} rows fed{pause_text}; {new} rows in {outcome.seconds:.1f} s "
        f"({new / max(outcome.seconds, 1e-3):.0f} rows/s{late if outcome.paced else ''}){besides}"
    )


def feed(
    file: FileArgument,
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
    together: Annotated[int, typer.Option(min=1, max=1000, help="Rows at that rate that come at once.")] = 1,
    ahead: Annotated[int, typer.Option(min=1, help="Most fast rows ahead of the results.")] = 20_000,
    timeout: TimeoutOption = 120.0,
) -> None:
    """Put rows into Redis: some as fast as they are consumed, the others, when those are done, at a rate."""
    if paced_rows is not None and rate is None:
        raise UserError("--paced-rows needs --rate")
    require_finite("--rate", rate)
    from topologies.taxi.feed import FeedPlan, feed_file  # noqa: PLC0415 - imports redis

    plan = FeedPlan(fast_rows, rate, paced_rows, ahead, timeout, together)
    display = ReplayDisplay()
    with _feeding(redis) as client, Interrupt(every_ending=True) as wish, display:
        outcome = feed_file(
            client, read_run(run), file, plan, report=display.report, stopped=lambda: wish.happened
        )
    besides = _besides(outcome, None)
    if not outcome.ended:
        raise UserError(
            f"feeding of run {run} ended after row {outcome.fed}{besides}", status=INTERRUPTED_STATUS
        )
    typer.echo(f"fed {outcome.fed} rows to run {run}{besides}")


@contextmanager
def _feeding(text: str) -> Iterator[Redis]:
    """Give a client of the Redis of `--redis`; what ends the feeding inside the block ends the command.

    Raises:
        UserError: It is no address, Redis does not answer or refuses, or the rows cannot be fed.
    """
    from topologies.taxi.replay.errors import FeedError  # noqa: PLC0415 - keeps other commands quick
    from topologies.taxi.rows import RowsError  # noqa: PLC0415 - likewise

    try:
        with redis_at(text, patient=False) as client, refused(RowsError):
            yield client
    except FeedError as error:
        raise UserError(str(error), error.status) from error


def _besides(outcome: Outcome, rejects: Path | None) -> str:
    """Return what has to be said of the run's rows besides their number."""
    parts = []
    if outcome.rejected:
        reasons = ", ".join(f"{reason} {count}" for reason, count in outcome.rejected.items())
        where = f" in {rejects}" if rejects is not None else ""
        parts.append(f"malformed rows{where}: {sum(outcome.rejected.values())} ({reasons})")
    if back := outcome.faults.get("goes_back"):
        parts.append(f"rows that go back in time: {back}")
    if twice := outcome.faults.get("duplicate"):
        parts.append(f"rows that are there twice: {twice}")
    return "".join(f"; {part}" for part in parts)
